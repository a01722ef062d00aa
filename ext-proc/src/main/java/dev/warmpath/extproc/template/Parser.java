package dev.warmpath.extproc.template;

import dev.warmpath.extproc.template.Lexer.Kind;
import dev.warmpath.extproc.template.Lexer.Piece;
import dev.warmpath.extproc.template.Lexer.Token;
import java.util.ArrayList;
import java.util.List;

/** Reads the statements of a template. Anything unknown is refused here, with its name. */
final class Parser {
  private final List<Piece> pieces;
  private int next;

  private Parser(List<Piece> pieces) {
    this.pieces = pieces;
  }

  static List<Node> parse(String template) {
    Parser parser = new Parser(Lexer.split(template));
    List<Node> nodes = parser.body(List.of());
    if (parser.next < parser.pieces.size()) {
      throw new TemplateException("the tag " + parser.word() + " closes nothing");
    }
    return nodes;
  }

  /** Nodes up to a block that begins with one of these words; the block itself stays. */
  private List<Node> body(List<String> until) {
    List<Node> nodes = new ArrayList<>();
    while (next < pieces.size()) {
      switch (pieces.get(next)) {
        case Piece.Text text -> {
          nodes.add(new Node.Text(text.text()));
          next++;
        }
        case Piece.Output output -> {
          nodes.add(new Node.Output(new ExprParser(output.tokens(), 0).whole()));
          next++;
        }
        case Piece.Block block -> {
          String word = word();
          if (until.contains(word)) {
            return nodes;
          }
          next++;
          nodes.add(statement(word, block.tokens()));
        }
      }
    }
    if (!until.isEmpty()) {
      throw new TemplateException("the tag " + until.getLast() + " is missing");
    }
    return nodes;
  }

  private String word() {
    return pieces.get(next) instanceof Piece.Block block ? block.tokens().getFirst().text() : "";
  }

  private Node statement(String word, List<Token> tokens) {
    return switch (word) {
      case "if" -> branches(tokens);
      case "for" -> loop(tokens);
      case "set" -> assign(tokens);
      default -> throw new TemplateException("the tag '" + word + "' is not supported");
    };
  }

  private Node branches(List<Token> tokens) {
    List<Expr> conditions = new ArrayList<>();
    List<List<Node>> bodies = new ArrayList<>();
    List<Node> otherwise = List.of();
    conditions.add(new ExprParser(tokens, 1).whole());
    while (true) {
      List<Node> body = body(List.of("elif", "else", "endif"));
      String word = word();
      Piece piece = pieces.get(next++);
      if (conditions.size() > bodies.size()) {
        bodies.add(body);
      } else {
        otherwise = body;
      }
      if (word.equals("endif")) {
        return new Node.If(conditions, bodies, otherwise);
      }
      if (word.equals("elif") && piece instanceof Piece.Block block) {
        conditions.add(new ExprParser(block.tokens(), 1).whole());
      } else if (!word.equals("else")) {
        throw new TemplateException("the tag '" + word + "' stands inside an if");
      }
    }
  }

  private Node loop(List<Token> tokens) {
    List<String> names = new ArrayList<>();
    int at = 1;
    while (tokens.get(at).kind() == Kind.NAME && !tokens.get(at).named("in")) {
      names.add(tokens.get(at++).text());
      at += tokens.get(at).is(",") ? 1 : 0;
    }
    if (!tokens.get(at).named("in") || names.isEmpty() || names.size() > 2) {
      throw new TemplateException("a for without 'in'");
    }
    ExprParser parser = new ExprParser(tokens, at + 1);
    Expr items = parser.withoutChoice();
    Expr condition = parser.takeName("if") ? parser.expression() : null;
    parser.end();
    List<Node> body = body(List.of("else", "endfor"));
    List<Node> otherwise = List.of();
    if (word().equals("else")) {
      next++;
      otherwise = body(List.of("endfor"));
    }
    if (!word().equals("endfor")) {
      throw new TemplateException("the tag '" + word() + "' stands inside a for");
    }
    next++;
    return new Node.For(names, items, condition, body, otherwise);
  }

  private static Node assign(List<Token> tokens) {
    String name = tokens.get(1).text();
    boolean attribute = tokens.get(2).is(".");
    int equals = attribute ? 4 : 2;
    if (tokens.get(1).kind() != Kind.NAME || !tokens.get(equals).is("=")) {
      throw new TemplateException("this form of set is not supported");
    }
    return new Node.Assign(
        name, attribute ? tokens.get(3).text() : null, new ExprParser(tokens, equals + 1).whole());
  }
}
