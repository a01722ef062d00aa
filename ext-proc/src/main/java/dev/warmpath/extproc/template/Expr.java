package dev.warmpath.extproc.template;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** An expression. */
sealed interface Expr {
  record Literal(@Nullable Object value) implements Expr {}

  record Name(String name) implements Expr {}

  record ListOf(List<Expr> items) implements Expr {}

  record MapOf(List<Expr> keys, List<Expr> values) implements Expr {}

  record Attribute(Expr of, String name) implements Expr {}

  record Item(Expr of, Expr key) implements Expr {}

  record Slice(Expr of, @Nullable Expr from, @Nullable Expr to, @Nullable Expr step)
      implements Expr {}

  /** {@code receiver.method(arguments)}. */
  record Call(Expr receiver, String method, List<Expr> arguments) implements Expr {}

  /** {@code function(arguments, name=value)}. */
  record Function(String name, List<Expr> arguments, List<String> names, List<Expr> named)
      implements Expr {}

  record Filter(Expr of, String name, List<Expr> arguments) implements Expr {}

  record Test(Expr of, String name, List<Expr> arguments, boolean negated) implements Expr {}

  record Not(Expr of) implements Expr {}

  record Negative(Expr of) implements Expr {}

  record Binary(String operator, Expr left, Expr right) implements Expr {}

  record Choice(Expr condition, Expr then, Expr otherwise) implements Expr {}
}
