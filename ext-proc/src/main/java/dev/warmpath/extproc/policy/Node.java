package dev.warmpath.extproc.policy;

import org.jspecify.annotations.Nullable;

/**
 * Nodes of an expression tree over primitive values, for the common subset of CEL. Each has one
 * value that means "failed", so that looking at an endpoint neither boxes nor throws.
 */
sealed interface Node {

  /** {@link Expression#FALSE}, {@link Expression#TRUE} or {@link Expression#FAILED}. */
  non-sealed interface Bool extends Node {
    int test(Scope scope);
  }

  /** A whole number. */
  non-sealed interface Int extends Node {
    /** Outside of what any operand can be: counts and tokens are never near it. */
    long FAILED = Long.MIN_VALUE;

    long get(Scope scope);
  }

  /** A span of time in nanoseconds; {@link Int#FAILED} where it failed. */
  non-sealed interface Span extends Node {
    long nanos(Scope scope);
  }

  /** NaN where it failed. */
  non-sealed interface Real extends Node {
    double get(Scope scope);
  }

  /** Null where it failed. */
  non-sealed interface Text extends Node {
    @Nullable String get(Scope scope);
  }
}
