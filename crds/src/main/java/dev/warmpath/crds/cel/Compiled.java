package dev.warmpath.crds.cel;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A checked expression with result bool. Immutable; any thread. */
public final class Compiled implements CelResult {
  /**
   * Gives the values of variables. Called while an expression is evaluated, and only for what is
   * read.
   *
   * <p>Types: int is {@link Long}, double is {@link Double}, string is {@link String}, bool is
   * {@link Boolean}, duration is {@link java.time.Duration}, timestamp is {@link
   * java.time.Instant}. A variable with fields ({@code request}, {@code tenant}, {@code backend},
   * {@code pool}, {@code endpoint}, {@code backend.pricing}) and every map of labels is a {@link
   * java.util.Map}, of which only {@code get} and {@code containsKey} are called: extend {@link
   * java.util.AbstractMap} and compute there, for example run a classifier when {@code
   * labels.get("pii")} is asked. Null from {@code get} is "not known": the evaluation fails, unless
   * {@code has()} asked.
   *
   * <p>{@code request.header("x-team")} asks the request's map for {@value
   * CelEnvironments#HEADERS_KEY}, which answers with a map from lower-case names to values.
   */
  @FunctionalInterface
  public interface Bindings {
    /** The value of a variable such as {@code request}; null if there is none. */
    @Nullable Object find(String variable);
  }

  private final String expression;
  private final CelEnvironments.Scope scope;
  private final CelAbstractSyntaxTree tree;
  private final CelRuntime.Program program;
  private final References references;

  Compiled(
      String expression,
      CelEnvironments.Scope scope,
      CelAbstractSyntaxTree tree,
      CelRuntime.Program program) {
    this.expression = expression;
    this.scope = scope;
    this.tree = tree;
    this.program = program;
    this.references = References.of(tree.getExpr());
  }

  public CelOutcome evaluate(Bindings bindings) {
    try {
      Object value =
          program.eval(
              (String variable) -> Optional.ofNullable(LazyFields.of(bindings.find(variable))));
      return value instanceof Boolean answer
          ? new CelOutcome.Answer(answer)
          : new CelOutcome.Failed("gave no boolean");
    } catch (CelEvaluationException | RuntimeException e) {
      // The runtime lets exceptions of bindings through, and wraps its own.
      String message = e.getMessage();
      return new CelOutcome.Failed(message == null ? e.getClass().getSimpleName() : message);
    }
  }

  public String expression() {
    return expression;
  }

  public CelEnvironments.Scope scope() {
    return scope;
  }

  /** The checked tree, for those who translate it further. */
  public CelAbstractSyntaxTree tree() {
    return tree;
  }

  /** The variables that the expression can read, such as {@code request} and {@code labels}. */
  public Set<String> variables() {
    return references.variables();
  }

  /** The request labels that the expression names. */
  public Set<String> labelKeys() {
    return references.labelKeys();
  }

  /** A text that a request label is compared with. */
  public record LabelValue(String key, String value) {}

  /** What the expression compares labels with, as far as it is written as text. */
  public List<LabelValue> labelValues() {
    return references.labelValues();
  }

  /** Whether it also reads labels by computed keys, so that any of them may be asked for. */
  public boolean readsAnyLabel() {
    return references.anyLabel();
  }

  @Override
  public String toString() {
    return expression;
  }
}
