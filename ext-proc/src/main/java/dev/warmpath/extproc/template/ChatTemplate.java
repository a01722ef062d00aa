package dev.warmpath.extproc.template;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A template, read once. Immutable and thread-safe. */
public final class ChatTemplate {
  private final List<Node> nodes;

  private ChatTemplate(List<Node> nodes) {
    this.nodes = nodes;
  }

  /**
   * Reads a template.
   *
   * @throws TemplateException where it uses something that this renderer does not know
   */
  public static ChatTemplate parse(String source) {
    return new ChatTemplate(Parser.parse(source));
  }

  /**
   * Renders it.
   *
   * @param variables strings, whole numbers ({@code Long}), {@code Double}, {@code Boolean}, lists
   *     and maps of these, and null
   * @throws TemplateException where the template refuses, or does what is not known
   */
  public String render(Map<String, @Nullable Object> variables) {
    return new Renderer(variables).render(nodes);
  }

  /**
   * Whether messages' contents are gone through part by part; engines then give a template other
   * values than plain text.
   */
  public boolean readsParts() {
    return readsParts(nodes);
  }

  private static boolean readsParts(List<Node> nodes) {
    for (Node node : nodes) {
      boolean reads =
          switch (node) {
            case Node.For loop ->
                isContent(loop.items()) || readsParts(loop.body()) || readsParts(loop.otherwise());
            case Node.If branches ->
                branches.branches().stream().anyMatch(ChatTemplate::readsParts)
                    || readsParts(branches.otherwise());
            case Node.Text text -> false;
            case Node.Output output -> false;
            case Node.Assign assign -> false;
          };
      if (reads) {
        return true;
      }
    }
    return false;
  }

  private static boolean isContent(Expr items) {
    return switch (items) {
      case Expr.Name name -> name.name().equals("content");
      case Expr.Attribute attribute -> attribute.name().equals("content");
      case Expr.Item item ->
          item.key() instanceof Expr.Literal literal && "content".equals(literal.value());
      default -> false;
    };
  }
}
