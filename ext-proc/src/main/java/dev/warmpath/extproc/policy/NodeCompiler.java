package dev.warmpath.extproc.policy;

import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import dev.warmpath.crds.v1alpha1.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Translates the common subset of a CEL tree to {@link Node}s: fields, map entries, constants,
 * comparisons, {@code && || ! ?:}, {@code in} a list of strings, {@code + - *}, and the string
 * tests. Gives null for anything else, and the whole expression is then left to the CEL runtime.
 *
 * <p>Semantics are CEL's: {@code &&} and {@code ||} absorb a failure where the other side decides.
 */
final class NodeCompiler {
  Node.@Nullable Bool bool(CelExpr expression) {
    return node(expression) instanceof Node.Bool bool ? bool : null;
  }

  private @Nullable Node node(CelExpr expression) {
    return switch (expression.getKind()) {
      case CONSTANT -> constant(expression.constant());
      case SELECT -> expression.select().testOnly() ? null : select(expression.select());
      case CALL -> call(expression);
      default -> null;
    };
  }

  private static @Nullable Node constant(CelConstant constant) {
    return switch (constant.getKind()) {
      case BOOLEAN_VALUE -> {
        int value = constant.booleanValue() ? Expression.TRUE : Expression.FALSE;
        yield (Node.Bool) scope -> value;
      }
      case INT64_VALUE -> {
        long value = constant.int64Value();
        yield value == Node.Int.FAILED ? null : (Node.Int) scope -> value;
      }
      case DOUBLE_VALUE -> {
        double value = constant.doubleValue();
        yield Double.isNaN(value) ? null : (Node.Real) scope -> value;
      }
      case STRING_VALUE -> {
        String value = constant.stringValue();
        yield (Node.Text) scope -> value;
      }
      default -> null;
    };
  }

  private static @Nullable Node select(CelExpr.CelSelect select) {
    String root = path(select.operand());
    if (root == null) {
      return null;
    }
    Node field = Variables.field(root, select.field());
    return field != null ? field : Variables.entry(root, select.field());
  }

  /** {@code a.b.c} of identifiers and selections, else null. */
  private static @Nullable String path(CelExpr expression) {
    return switch (expression.getKind()) {
      case IDENT -> expression.ident().name();
      case SELECT -> {
        String operand = path(expression.select().operand());
        yield operand == null || expression.select().testOnly()
            ? null
            : operand + "." + expression.select().field();
      }
      default -> null;
    };
  }

  private @Nullable Node call(CelExpr expression) {
    CelExpr.CelCall call = expression.call();
    List<CelExpr> args = call.args();
    return switch (call.function()) {
      case "_&&_" -> logic(args, Expression.FALSE);
      case "_||_" -> logic(args, Expression.TRUE);
      case "!_" -> not(bool(args.get(0)));
      case "_?_:_" -> conditional(args);
      case "_==_" -> equal(node(args.get(0)), node(args.get(1)));
      case "_!=_" -> not(equal(node(args.get(0)), node(args.get(1))));
      case "_<_", "_<=_", "_>_", "_>=_" ->
          order(call.function(), node(args.get(0)), node(args.get(1)));
      case "_+_", "_-_", "_*_" -> arithmetic(call.function(), node(args.get(0)), node(args.get(1)));
      case "@in" -> in(args);
      case "_[_]" -> index(args);
      case "duration" -> duration(args);
      case "startsWith" -> test(call, String::startsWith);
      case "endsWith" -> test(call, String::endsWith);
      case "contains" -> test(call, String::contains);
      default -> null;
    };
  }

  /** Whatever this does not take is left to the CEL runtime. */
  private static Node.@Nullable Span duration(List<CelExpr> args) {
    CelExpr literal = args.getFirst();
    if (literal.getKind() != CelExpr.ExprKind.Kind.CONSTANT
        || literal.constant().getKind() != CelConstant.Kind.STRING_VALUE) {
      return null;
    }
    Duration duration = Durations.parse(literal.constant().stringValue());
    if (duration == null) {
      return null;
    }
    long nanos = duration.toNanos();
    return scope -> nanos;
  }

  /** {@code decisive} on either side is the answer, even where the other side failed. */
  private Node.@Nullable Bool logic(List<CelExpr> args, int decisive) {
    Node.Bool left = bool(args.get(0));
    Node.Bool right = bool(args.get(1));
    if (left == null || right == null) {
      return null;
    }
    return scope -> {
      int first = left.test(scope);
      if (first == decisive) {
        return decisive;
      }
      int second = right.test(scope);
      return first == Expression.FAILED && second != decisive ? first : second;
    };
  }

  private static Node.@Nullable Bool not(Node.@Nullable Bool operand) {
    return operand == null
        ? null
        : scope -> {
          int value = operand.test(scope);
          return value == Expression.FAILED ? value : 1 - value;
        };
  }

  private @Nullable Node conditional(List<CelExpr> args) {
    Node.Bool condition = bool(args.get(0));
    Node.Bool then = bool(args.get(1));
    Node.Bool otherwise = bool(args.get(2));
    if (condition == null || then == null || otherwise == null) {
      return null;
    }
    return (Node.Bool)
        scope ->
            switch (condition.test(scope)) {
              case Expression.TRUE -> then.test(scope);
              case Expression.FALSE -> otherwise.test(scope);
              default -> Expression.FAILED;
            };
  }

  private static Node.@Nullable Bool equal(@Nullable Node left, @Nullable Node right) {
    if (left instanceof Node.Text a && right instanceof Node.Text b) {
      return scope -> {
        String first = a.get(scope);
        String second = b.get(scope);
        return first == null || second == null ? Expression.FAILED : truth(first.equals(second));
      };
    }
    if (left instanceof Node.Bool a && right instanceof Node.Bool b) {
      return scope -> {
        int first = a.test(scope);
        int second = b.test(scope);
        return first == Expression.FAILED || second == Expression.FAILED
            ? Expression.FAILED
            : truth(first == second);
      };
    }
    return order("_==_", left, right);
  }

  private static Node.@Nullable Bool order(
      String operator, @Nullable Node left, @Nullable Node right) {
    if (left instanceof Node.Int a && right instanceof Node.Int b) {
      return integers(operator, a::get, b::get);
    }
    if (left instanceof Node.Span a && right instanceof Node.Span b) {
      return integers(operator, a::nanos, b::nanos);
    }
    return reals(operator, real(left), real(right));
  }

  /** Numbers compare by value, whatever their type. */
  private static Node.@Nullable Real real(@Nullable Node node) {
    return switch (node) {
      case Node.Real real -> real;
      case Node.Int integer ->
          scope -> {
            long value = integer.get(scope);
            return value == Node.Int.FAILED ? Double.NaN : (double) value;
          };
      case null, default -> null;
    };
  }

  private static Node.@Nullable Bool reals(
      String operator, Node.@Nullable Real a, Node.@Nullable Real b) {
    if (a != null && b != null) {
      return scope -> {
        double first = a.get(scope);
        double second = b.get(scope);
        return Double.isNaN(first) || Double.isNaN(second)
            ? Expression.FAILED
            : truth(compares(operator, Double.compare(first, second)));
      };
    }
    return null;
  }

  private interface LongReader {
    long get(Scope scope);
  }

  private static Node.Bool integers(String operator, LongReader left, LongReader right) {
    return scope -> {
      long first = left.get(scope);
      long second = right.get(scope);
      return first == Node.Int.FAILED || second == Node.Int.FAILED
          ? Expression.FAILED
          : truth(compares(operator, Long.compare(first, second)));
    };
  }

  private static boolean compares(String operator, int order) {
    return switch (operator) {
      case "_<_" -> order < 0;
      case "_<=_" -> order <= 0;
      case "_>_" -> order > 0;
      case "_>=_" -> order >= 0;
      default -> order == 0;
    };
  }

  private static @Nullable Node arithmetic(
      String operator, @Nullable Node left, @Nullable Node right) {
    if (left instanceof Node.Int a && right instanceof Node.Int b) {
      return (Node.Int)
          scope -> {
            long first = a.get(scope);
            long second = b.get(scope);
            return first == Node.Int.FAILED || second == Node.Int.FAILED
                ? Node.Int.FAILED
                : exact(operator, first, second);
          };
    }
    if (left instanceof Node.Real a && right instanceof Node.Real b) {
      return (Node.Real)
          scope -> {
            double first = a.get(scope);
            double second = b.get(scope);
            return switch (operator) {
              case "_+_" -> first + second;
              case "_-_" -> first - second;
              default -> first * second;
            };
          };
    }
    return null;
  }

  /** CEL fails where a number overflows. */
  private static long exact(String operator, long first, long second) {
    try {
      return switch (operator) {
        case "_+_" -> Math.addExact(first, second);
        case "_-_" -> Math.subtractExact(first, second);
        default -> Math.multiplyExact(first, second);
      };
    } catch (ArithmeticException overflow) {
      return Node.Int.FAILED;
    }
  }

  private Node.@Nullable Bool in(List<CelExpr> args) {
    if (args.get(1).getKind() != CelExpr.ExprKind.Kind.LIST
        || !(node(args.get(0)) instanceof Node.Text text)) {
      return null;
    }
    Set<String> values = new HashSet<>();
    for (CelExpr element : new ArrayList<>(args.get(1).list().elements())) {
      if (element.getKind() != CelExpr.ExprKind.Kind.CONSTANT
          || element.constant().getKind() != CelConstant.Kind.STRING_VALUE) {
        return null;
      }
      values.add(element.constant().stringValue());
    }
    return scope -> {
      String value = text.get(scope);
      return value == null ? Expression.FAILED : truth(values.contains(value));
    };
  }

  private static @Nullable Node index(List<CelExpr> args) {
    String map = path(args.get(0));
    CelExpr key = args.get(1);
    return map == null
            || key.getKind() != CelExpr.ExprKind.Kind.CONSTANT
            || key.constant().getKind() != CelConstant.Kind.STRING_VALUE
        ? null
        : Variables.entry(map, key.constant().stringValue());
  }

  private Node.@Nullable Bool test(CelExpr.CelCall call, BiPredicate<String, String> predicate) {
    if (call.target().isEmpty()
        || !(node(call.target().get()) instanceof Node.Text text)
        || !(node(call.args().get(0)) instanceof Node.Text argument)) {
      return null;
    }
    return scope -> {
      String value = text.get(scope);
      String part = argument.get(scope);
      return value == null || part == null ? Expression.FAILED : truth(predicate.test(value, part));
    };
  }

  private static int truth(boolean value) {
    return value ? Expression.TRUE : Expression.FALSE;
  }
}
