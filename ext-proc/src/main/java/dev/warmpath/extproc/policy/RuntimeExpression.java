package dev.warmpath.extproc.policy;

import dev.warmpath.crds.cel.CelEnvironments;
import dev.warmpath.crds.cel.CelOutcome;
import dev.warmpath.crds.cel.Compiled;
import java.util.AbstractMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An expression that the CEL runtime evaluates; every failure inside it is an outcome. */
final class RuntimeExpression extends Expression {
  private final Compiled compiled;

  RuntimeExpression(Compiled compiled) {
    super(compiled.expression(), compiled.variables());
    this.compiled = compiled;
  }

  @Override
  int test(Scope scope) {
    return switch (compiled.evaluate(bindings(scope))) {
      case CelOutcome.Answer answer -> answer.value() ? TRUE : FALSE;
      case CelOutcome.Failed failed -> FAILED;
    };
  }

  @Override
  String explainFailure(Scope scope) {
    return switch (compiled.evaluate(bindings(scope))) {
      case CelOutcome.Answer answer -> "is " + answer.value() + " by now";
      case CelOutcome.Failed failed -> "\"" + this + "\": " + failed.reason();
    };
  }

  private static Compiled.Bindings bindings(Scope scope) {
    return name -> name.equals("now") ? scope.now : new Fields(scope, name);
  }

  /** A variable as the map that CEL selects from; reads a field when it is asked for. */
  private static final class Fields extends AbstractMap<String, Object> {
    private final Scope scope;
    private final String path;

    Fields(Scope scope, String path) {
      this.scope = scope;
      this.path = path;
    }

    @Override
    public boolean containsKey(@Nullable Object key) {
      return get(key) != null;
    }

    @Override
    public @Nullable Object get(@Nullable Object key) {
      if (!(key instanceof String field)) {
        return null;
      }
      Node node = Variables.field(path, field);
      if (node == null) {
        node = Variables.entry(path, field);
      }
      return node == null ? nested(field) : read(node);
    }

    private @Nullable Object nested(String field) {
      String nested = path + "." + field;
      return switch (nested) {
        case "request." + CelEnvironments.HEADERS_KEY -> scope.request.headers();
        case "tenant.labels" -> scope.tenant.labels();
        case "backend.labels" -> scope.backend == null ? null : scope.backend.labels();
        case "backend.pricing" ->
            scope.backend == null || scope.backend.pricing() == null
                ? null
                : new Fields(scope, nested);
        default -> null;
      };
    }

    private @Nullable Object read(Node node) {
      return switch (node) {
        case Node.Bool bool -> {
          int value = bool.test(scope);
          yield value == FAILED ? null : (Object) (value == TRUE);
        }
        case Node.Int integer -> {
          long value = integer.get(scope);
          yield value == Node.Int.FAILED ? null : (Object) value;
        }
        case Node.Span span -> {
          long nanos = span.nanos(scope);
          yield nanos == Node.Int.FAILED ? null : java.time.Duration.ofNanos(nanos);
        }
        case Node.Real real -> {
          double value = real.get(scope);
          yield Double.isNaN(value) ? null : (Object) value;
        }
        case Node.Text text -> text.get(scope);
      };
    }

    @Override
    public Set<Map.Entry<String, Object>> entrySet() {
      throw new UnsupportedOperationException("a variable can be read by field only");
    }
  }
}
