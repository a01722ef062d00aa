package dev.warmpath.extproc.policy;

import java.util.Set;

/** A compiled boolean expression of a policy. Immutable and thread-safe. */
abstract class Expression {
  static final int FALSE = 0;
  static final int TRUE = 1;

  /** A missing value, a cost limit, a type that does not fit: the caller narrows. */
  static final int FAILED = 2;

  private final String text;
  private final Set<String> roots;

  /**
   * @param roots variables that the expression reads: {@code request}, {@code labels} …
   */
  Expression(String text, Set<String> roots) {
    this.text = text;
    this.roots = Set.copyOf(roots);
  }

  /** {@link #FALSE}, {@link #TRUE} or {@link #FAILED}; never throws. */
  abstract int test(Scope scope);

  /** Why {@link #test} fails for that scope; slow, for the decision record only. */
  String explainFailure(Scope scope) {
    return "could not be evaluated";
  }

  final boolean reads(String root) {
    return roots.contains(root);
  }

  /** Depends on nothing but the backend's own resource. */
  final boolean readsOnlyBackend() {
    return Set.of("backend").containsAll(roots);
  }

  /** May come out otherwise a moment later, so that waiting can help. */
  final boolean readsClusterState() {
    return reads("pool") || reads("endpoint") || reads("now");
  }

  @Override
  public final String toString() {
    return text;
  }

  /** An expression that can't be compiled here: it always fails, which always narrows. */
  static Expression broken(String text, String reason) {
    return new Expression(text, Set.of()) {
      @Override
      int test(Scope scope) {
        return FAILED;
      }

      @Override
      String explainFailure(Scope scope) {
        return reason;
      }
    };
  }
}
