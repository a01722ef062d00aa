package dev.warmpath.extproc.template;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A part of a template. */
sealed interface Node {
  record Text(String text) implements Node {}

  record Output(Expr value) implements Node {}

  /** Sets a variable, or an attribute of a namespace. */
  record Assign(String name, @Nullable String attribute, Expr value) implements Node {}

  record If(List<Expr> conditions, List<List<Node>> branches, List<Node> otherwise)
      implements Node {}

  record For(
      List<String> names,
      Expr items,
      @Nullable Expr condition,
      List<Node> body,
      List<Node> otherwise)
      implements Node {}
}
