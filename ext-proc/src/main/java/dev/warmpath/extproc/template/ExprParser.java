package dev.warmpath.extproc.template;

import dev.warmpath.extproc.template.Lexer.Kind;
import dev.warmpath.extproc.template.Lexer.Token;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Reads one expression, with Jinja's precedence. */
final class ExprParser {
  private static final Set<String> COMPARISONS = Set.of("==", "!=", "<", ">", "<=", ">=");

  private final List<Token> tokens;
  private int next;

  ExprParser(List<Token> tokens, int from) {
    this.tokens = tokens;
    this.next = from;
  }

  /** An expression that fills its tag. */
  Expr whole() {
    Expr all = expression();
    end();
    return all;
  }

  void end() {
    if (peek().kind() != Kind.END) {
      throw new TemplateException("'" + peek().text() + "' is not understood where it stands");
    }
  }

  Expr expression() {
    Expr then = or();
    while (takeName("if")) {
      Expr condition = or();
      Expr otherwise = takeName("else") ? expression() : new Expr.Literal(Undefined.VALUE);
      then = new Expr.Choice(condition, then, otherwise);
    }
    return then;
  }

  Expr withoutChoice() {
    return or();
  }

  private Expr or() {
    Expr left = and();
    while (takeName("or")) {
      left = new Expr.Binary("or", left, and());
    }
    return left;
  }

  private Expr and() {
    Expr left = not();
    while (takeName("and")) {
      left = new Expr.Binary("and", left, not());
    }
    return left;
  }

  private Expr not() {
    return takeName("not") ? new Expr.Not(not()) : comparison();
  }

  private Expr comparison() {
    Expr left = sum();
    boolean first = true;
    while (true) {
      String operator;
      if (peek().kind() == Kind.OPERATOR && COMPARISONS.contains(peek().text())) {
        operator = take().text();
      } else if (takeName("in")) {
        operator = "in";
      } else if (peek().named("not") && tokens.get(next + 1).named("in")) {
        next += 2;
        operator = "not in";
      } else {
        return left;
      }
      if (!first) {
        throw new TemplateException("chained comparisons are not supported");
      }
      first = false;
      left = new Expr.Binary(operator, left, sum());
    }
  }

  private Expr sum() {
    Expr left = concatenation();
    while (peek().is("+") || peek().is("-")) {
      left = new Expr.Binary(take().text(), left, concatenation());
    }
    return left;
  }

  private Expr concatenation() {
    Expr left = product();
    while (peek().is("~")) {
      left = new Expr.Binary(take().text(), left, product());
    }
    return left;
  }

  private Expr product() {
    Expr left = unary();
    while (peek().is("*") || peek().is("//") || peek().is("%")) {
      left = new Expr.Binary(take().text(), left, unary());
    }
    return left;
  }

  private Expr unary() {
    return takeOperator("-") ? new Expr.Negative(unary()) : filtered(postfix(primary()));
  }

  private Expr primary() {
    Token token = take();
    switch (token.kind()) {
      case STRING -> {
        StringBuilder text = new StringBuilder(token.text());
        while (peek().kind() == Kind.STRING) {
          text.append(take().text());
        }
        return new Expr.Literal(text.toString());
      }
      case INTEGER -> {
        return new Expr.Literal(Long.valueOf(token.text()));
      }
      case REAL -> {
        return new Expr.Literal(Double.valueOf(token.text()));
      }
      case NAME -> {
        return name(token.text());
      }
      case OPERATOR -> {
        switch (token.text()) {
          case "(" -> {
            Expr inside = expression();
            if (!peek().is(",")) {
              expect(")");
              return inside;
            }
            List<Expr> items = new ArrayList<>(List.of(inside));
            while (takeOperator(",") && !peek().is(")")) {
              items.add(expression());
            }
            expect(")");
            return new Expr.ListOf(items);
          }
          case "[" -> {
            return new Expr.ListOf(items("]"));
          }
          case "{" -> {
            return map();
          }
          default -> {}
        }
      }
      case END -> {}
    }
    throw new TemplateException("'" + token.text() + "' begins no expression");
  }

  private Expr name(String name) {
    switch (name) {
      case "true", "True" -> {
        return new Expr.Literal(true);
      }
      case "false", "False" -> {
        return new Expr.Literal(false);
      }
      case "none", "None" -> {
        return new Expr.Literal(null);
      }
      default -> {
        if (!peek().is("(")) {
          return new Expr.Name(name);
        }
      }
    }
    if (!Builtins.FUNCTIONS.contains(name)) {
      throw new TemplateException("the function '" + name + "' is not supported");
    }
    next++;
    List<Expr> arguments = new ArrayList<>();
    List<String> names = new ArrayList<>();
    List<Expr> named = new ArrayList<>();
    while (!takeOperator(")")) {
      if (peek().kind() == Kind.NAME && tokens.get(next + 1).is("=")) {
        names.add(take().text());
        next++;
        named.add(expression());
      } else {
        arguments.add(expression());
      }
      if (!peek().is(")")) {
        expect(",");
      }
    }
    return new Expr.Function(name, arguments, names, named);
  }

  private Expr map() {
    List<Expr> keys = new ArrayList<>();
    List<Expr> values = new ArrayList<>();
    while (!takeOperator("}")) {
      keys.add(expression());
      expect(":");
      values.add(expression());
      if (!peek().is("}")) {
        expect(",");
      }
    }
    return new Expr.MapOf(keys, values);
  }

  private List<Expr> items(String close) {
    List<Expr> items = new ArrayList<>();
    while (!takeOperator(close)) {
      items.add(expression());
      if (!peek().is(close)) {
        expect(",");
      }
    }
    return items;
  }

  private Expr postfix(Expr start) {
    Expr value = start;
    while (true) {
      if (takeOperator(".")) {
        String name = take().text();
        if (takeOperator("(")) {
          if (!Builtins.METHODS.contains(name)) {
            throw new TemplateException("the method '" + name + "' is not supported");
          }
          value = new Expr.Call(value, name, items(")"));
        } else {
          value = new Expr.Attribute(value, name);
        }
      } else if (takeOperator("[")) {
        value = subscript(value);
      } else {
        return value;
      }
    }
  }

  private Expr subscript(Expr of) {
    Expr from = peek().is(":") ? null : expression();
    if (from != null && takeOperator("]")) {
      return new Expr.Item(of, from);
    }
    expect(":");
    Expr to = peek().is(":") || peek().is("]") ? null : expression();
    Expr step = takeOperator(":") && !peek().is("]") ? expression() : null;
    expect("]");
    return new Expr.Slice(of, from, to, step);
  }

  private Expr filtered(Expr start) {
    Expr value = start;
    while (true) {
      if (takeOperator("|")) {
        String name = take().text();
        if (!Builtins.FILTERS.contains(name)) {
          throw new TemplateException("the filter '" + name + "' is not supported");
        }
        value = postfix(new Expr.Filter(value, name, takeOperator("(") ? items(")") : List.of()));
      } else if (takeName("is")) {
        boolean negated = takeName("not");
        String name = take().text();
        if (!Builtins.TESTS.contains(name)) {
          throw new TemplateException("the test '" + name + "' is not supported");
        }
        List<Expr> arguments = takeOperator("(") ? items(")") : List.of();
        if (arguments.isEmpty() && Builtins.TESTS_OF_TWO.contains(name)) {
          arguments = List.of(unary());
        }
        value = new Expr.Test(value, name, arguments, negated);
      } else {
        return value;
      }
    }
  }

  private Token peek() {
    return tokens.get(next);
  }

  private Token take() {
    Token token = tokens.get(next);
    next += token.kind() == Kind.END ? 0 : 1;
    return token;
  }

  boolean takeName(String name) {
    boolean there = peek().named(name);
    next += there ? 1 : 0;
    return there;
  }

  private boolean takeOperator(String operator) {
    boolean there = peek().is(operator);
    next += there ? 1 : 0;
    return there;
  }

  private void expect(String operator) {
    if (!takeOperator(operator)) {
      throw new TemplateException("'" + operator + "' expected, '" + peek().text() + "' found");
    }
  }
}
