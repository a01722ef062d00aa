package dev.warmpath.extproc.policy;

import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelVariableResolver;
import java.util.AbstractMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An expression that the CEL runtime evaluates; every failure inside it is an outcome. */
final class RuntimeExpression extends Expression {
  private final CelRuntime.Program program;

  RuntimeExpression(String text, Set<String> roots, CelRuntime.Program program) {
    super(text, roots);
    this.program = program;
  }

  @Override
  int test(Scope scope) {
    try {
      return switch (program.eval(resolver(scope))) {
        case Boolean value -> value ? TRUE : FALSE;
        default -> FAILED;
      };
    } catch (CelEvaluationException | RuntimeException e) {
      return FAILED;
    }
  }

  @Override
  String explainFailure(Scope scope) {
    try {
      Object value = program.eval(resolver(scope));
      return "\"" + this + "\" gave " + (value == null ? "null" : value.getClass().getSimpleName());
    } catch (CelEvaluationException | RuntimeException e) {
      return "\"" + this + "\": " + e.getMessage();
    }
  }

  private static CelVariableResolver resolver(Scope scope) {
    return name ->
        switch (name) {
          case "now" -> Optional.of(scope.now);
          case "labels" -> Optional.of(new Fields(scope, "labels"));
          default -> Optional.of(new Fields(scope, name));
        };
  }

  /** A variable as the map that CEL selects from; reads a field when it is asked for. */
  static final class Fields extends AbstractMap<String, Object> {
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

    /** Empty where the request does not have it. */
    String header(String name) {
      return scope.request.headers().getOrDefault(name.toLowerCase(Locale.ROOT), "");
    }

    private @Nullable Object nested(String field) {
      String nested = path + "." + field;
      return switch (nested) {
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
