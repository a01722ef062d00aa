package dev.warmpath.crds.cel;

import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a tree reads.
 *
 * @param labelValues texts that labels are compared with
 */
record References(
    Set<String> variables,
    Set<String> labelKeys,
    boolean anyLabel,
    List<Compiled.LabelValue> labelValues) {
  static final String LABELS = "labels";

  static References of(CelExpr root) {
    Collector collector = new Collector();
    collector.visit(root);
    return new References(
        Set.copyOf(collector.variables),
        Set.copyOf(collector.labelKeys),
        collector.anyLabel,
        List.copyOf(collector.labelValues));
  }

  private static final class Collector {
    final Set<String> variables = new HashSet<>();
    final Set<String> labelKeys = new HashSet<>();
    final Set<Compiled.LabelValue> labelValues = new LinkedHashSet<>();
    boolean anyLabel;

    void visit(CelExpr expression) {
      String label = labelKey(expression);
      if (label != null) {
        variables.add(LABELS);
        labelKeys.add(label);
        return;
      }
      switch (expression.getKind()) {
        case IDENT -> {
          String name = expression.ident().name();
          if (CelEnvironments.isVariable(name)) {
            variables.add(name);
            anyLabel |= name.equals(LABELS);
          }
        }
        case SELECT -> visit(expression.select().operand());
        case CALL -> {
          compared(expression.call());
          expression.call().target().ifPresent(this::visit);
          expression.call().args().forEach(this::visit);
        }
        case LIST -> expression.list().elements().forEach(this::visit);
        case MAP ->
            expression
                .map()
                .entries()
                .forEach(entry -> {
                  visit(entry.key());
                  visit(entry.value());
                });
        case STRUCT -> expression.struct().entries().forEach(entry -> visit(entry.value()));
        case COMPREHENSION -> {
          CelExpr.CelComprehension loop = expression.comprehension();
          visit(loop.iterRange());
          visit(loop.accuInit());
          visit(loop.loopCondition());
          visit(loop.loopStep());
          visit(loop.result());
        }
        case CONSTANT, NOT_SET -> {}
      }
    }

    /** {@code labels.k == 'v'}, the same turned round, and {@code labels.k in ['v', 'w']}. */
    private void compared(CelExpr.CelCall call) {
      if (call.args().size() != 2) {
        return;
      }
      CelExpr first = call.args().get(0);
      CelExpr second = call.args().get(1);
      switch (call.function()) {
        case "_==_", "_!=_" -> {
          compared(first, second);
          compared(second, first);
        }
        case "@in" -> {
          if (second.getKind() == CelExpr.ExprKind.Kind.LIST) {
            second.list().elements().forEach(element -> compared(first, element));
          }
        }
        default -> {}
      }
    }

    private void compared(CelExpr label, CelExpr value) {
      String key = labelKey(label);
      String text = text(value);
      if (key != null && text != null) {
        labelValues.add(new Compiled.LabelValue(key, text));
      }
    }

    /** The key of {@code labels.key}, {@code labels["key"]} and {@code "key" in labels}. */
    private static @Nullable String labelKey(CelExpr expression) {
      return switch (expression.getKind()) {
        case SELECT -> isLabels(expression.select().operand()) ? expression.select().field() : null;
        case CALL -> labelKey(expression.call());
        default -> null;
      };
    }

    private static @Nullable String labelKey(CelExpr.CelCall call) {
      if (call.args().size() != 2) {
        return null;
      }
      CelExpr first = call.args().get(0);
      CelExpr second = call.args().get(1);
      if (call.function().equals("_[_]") && isLabels(first)) {
        return text(second);
      }
      return call.function().equals("@in") && isLabels(second) ? text(first) : null;
    }

    private static boolean isLabels(CelExpr expression) {
      return expression.getKind() == CelExpr.ExprKind.Kind.IDENT
          && expression.ident().name().equals(LABELS);
    }

    private static @Nullable String text(CelExpr expression) {
      return expression.getKind() == CelExpr.ExprKind.Kind.CONSTANT
              && expression.constant().getKind() == CelConstant.Kind.STRING_VALUE
          ? expression.constant().stringValue()
          : null;
    }
  }
}
