package dev.warmpath.extproc.policy;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.warmpath.crds.cel.CelEnvironments;
import dev.warmpath.crds.cel.CelProblem;
import dev.warmpath.crds.cel.Compiled;

/**
 * Compiles the CEL of policies: to primitive nodes where it can, else to the CEL runtime. What an
 * expression may name, and which type a thing has, is checked by the environment that the control
 * plane checks with. Thread-safe.
 */
final class ExpressionCompiler {
  /** Enough for every expression of a large configuration; a reload changes few of them. */
  private static final int CACHED_EXPRESSIONS = 10_000;

  private final Cache<Source, Expression> compiled =
      Caffeine.newBuilder().maximumSize(CACHED_EXPRESSIONS).build();

  private record Source(String text, CelEnvironments.Scope scope) {}

  Expression condition(String text) {
    return compile(text, CelEnvironments.Scope.MATCH_CONDITION);
  }

  Expression when(String text) {
    return compile(text, CelEnvironments.Scope.WHEN);
  }

  Expression exclude(String text) {
    return compile(text, CelEnvironments.Scope.EXCLUDE);
  }

  Expression endpoints(String text) {
    return compile(text, CelEnvironments.Scope.ENDPOINTS);
  }

  private Expression compile(String text, CelEnvironments.Scope scope) {
    return compiled.get(new Source(text, scope), ExpressionCompiler::translate);
  }

  private static Expression translate(Source source) {
    return switch (CelEnvironments.compile(source.text(), source.scope())) {
      case CelProblem problem -> Expression.broken(source.text(), "does not compile: " + problem);
      case Compiled tree -> {
        Node.Bool node = new NodeCompiler().bool(tree.tree().getExpr());
        yield node == null ? new RuntimeExpression(tree) : new NodeExpression(tree, node);
      }
    };
  }

  /** The common case. */
  private static final class NodeExpression extends Expression {
    private final Node.Bool node;

    NodeExpression(Compiled tree, Node.Bool node) {
      super(tree.expression(), tree.variables());
      this.node = node;
    }

    @Override
    int test(Scope scope) {
      return node.test(scope);
    }

    @Override
    String explainFailure(Scope scope) {
      return "a value of \"" + this + "\" is not known";
    }
  }
}
