package dev.warmpath.extproc.template;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One rendering. Not thread-safe. */
final class Renderer {
  /** A conversation is longer than no context window. */
  private static final int MAX_OUTPUT = 64 << 20;

  /** The mutable object of {@code namespace()}. */
  private static final class Namespace {
    private final Map<String, @Nullable Object> values = new HashMap<>();
  }

  private final Deque<Map<String, @Nullable Object>> scopes = new ArrayDeque<>();
  private final StringBuilder out = new StringBuilder();

  Renderer(Map<String, @Nullable Object> variables) {
    scopes.push(new HashMap<>(variables));
  }

  String render(List<Node> nodes) {
    run(nodes);
    return out.toString();
  }

  private void run(List<Node> nodes) {
    for (Node node : nodes) {
      switch (node) {
        case Node.Text text -> out.append(text.text());
        case Node.Output output -> out.append(Values.text(value(output.value())));
        case Node.Assign assign -> assign(assign);
        case Node.If branches -> branch(branches);
        case Node.For loop -> loop(loop);
      }
      if (out.length() > MAX_OUTPUT) {
        throw new TemplateException("the conversation is too long");
      }
    }
  }

  private void assign(Node.Assign assign) {
    Object value = value(assign.value());
    String attribute = assign.attribute();
    if (attribute == null) {
      scope().put(assign.name(), value);
    } else if (look(assign.name()) instanceof Namespace namespace) {
      namespace.values.put(attribute, value);
    } else {
      throw new TemplateException(assign.name() + " is no namespace");
    }
  }

  private Map<String, @Nullable Object> scope() {
    return scopes.getFirst();
  }

  private @Nullable Object look(String name) {
    for (Map<String, @Nullable Object> scope : scopes) {
      if (scope.containsKey(name)) {
        return scope.get(name);
      }
    }
    return Undefined.VALUE;
  }

  private void branch(Node.If branches) {
    for (int i = 0; i < branches.conditions().size(); i++) {
      if (Values.truth(value(branches.conditions().get(i)))) {
        run(branches.branches().get(i));
        return;
      }
    }
    run(branches.otherwise());
  }

  private void loop(Node.For loop) {
    List<@Nullable Object> items = new ArrayList<>(Values.items(value(loop.items())));
    Expr condition = loop.condition();
    if (condition != null) {
      items.removeIf(item -> {
        scopes.push(new HashMap<>());
        bind(loop.names(), item);
        boolean kept = Values.truth(value(condition));
        scopes.pop();
        return !kept;
      });
    }
    if (items.isEmpty()) {
      run(loop.otherwise());
    }
    for (int i = 0; i < items.size(); i++) {
      scopes.push(new HashMap<>());
      Map<String, @Nullable Object> state = new HashMap<>();
      state.put("index0", (long) i);
      state.put("index", i + 1L);
      state.put("revindex0", items.size() - 1L - i);
      state.put("revindex", (long) items.size() - i);
      state.put("first", i == 0);
      state.put("last", i == items.size() - 1);
      state.put("length", (long) items.size());
      state.put("previtem", i == 0 ? Undefined.VALUE : items.get(i - 1));
      state.put("nextitem", i == items.size() - 1 ? Undefined.VALUE : items.get(i + 1));
      scope().put("loop", state);
      bind(loop.names(), items.get(i));
      run(loop.body());
      scopes.pop();
    }
  }

  private void bind(List<String> names, @Nullable Object item) {
    if (names.size() == 1) {
      scope().put(names.getFirst(), item);
    } else if (item instanceof List<?> pair && pair.size() == names.size()) {
      for (int i = 0; i < names.size(); i++) {
        scope().put(names.get(i), pair.get(i));
      }
    } else {
      throw new TemplateException("a loop over pairs meets something else");
    }
  }

  private @Nullable Object value(Expr expr) {
    return switch (expr) {
      case Expr.Literal literal -> literal.value();
      case Expr.Name name -> look(name.name());
      case Expr.ListOf list -> {
        List<@Nullable Object> items = new ArrayList<>();
        list.items().forEach(item -> items.add(value(item)));
        yield items;
      }
      case Expr.MapOf map -> {
        Map<Object, @Nullable Object> entries = new LinkedHashMap<>();
        for (int i = 0; i < map.keys().size(); i++) {
          entries.put(Values.argument(value(map.keys().get(i))), value(map.values().get(i)));
        }
        yield entries;
      }
      case Expr.Attribute attribute -> member(value(attribute.of()), attribute.name());
      case Expr.Item item -> item(value(item.of()), value(item.key()));
      case Expr.Slice slice -> slice(slice);
      case Expr.Call call ->
          Builtins.method(value(call.receiver()), call.method(), values(call.arguments()));
      case Expr.Function function -> call(function);
      case Expr.Filter filter ->
          Builtins.filter(value(filter.of()), filter.name(), values(filter.arguments()));
      case Expr.Test test ->
          Builtins.test(value(test.of()), test.name(), values(test.arguments())) != test.negated();
      case Expr.Not not -> !Values.truth(value(not.of()));
      case Expr.Negative negative -> negative(value(negative.of()));
      case Expr.Binary binary -> binary(binary);
      case Expr.Choice choice ->
          Values.truth(value(choice.condition()))
              ? value(choice.then())
              : value(choice.otherwise());
    };
  }

  private List<Object> values(List<Expr> arguments) {
    List<Object> values = new ArrayList<>(arguments.size());
    arguments.forEach(argument -> values.add(Values.argument(value(argument))));
    return values;
  }

  private static @Nullable Object member(@Nullable Object of, String name) {
    return switch (of) {
      case Namespace namespace ->
          namespace.values.containsKey(name) ? namespace.values.get(name) : Undefined.VALUE;
      case Map<?, ?> map -> {
        if (Builtins.METHODS.contains(name)) {
          throw new TemplateException("'" + name + "' of a mapping without a call");
        }
        yield map.containsKey(name) ? map.get(name) : Undefined.VALUE;
      }
      case Undefined undefined ->
          throw new TemplateException("'" + name + "' of an undefined value");
      case null, default -> Undefined.VALUE;
    };
  }

  private static @Nullable Object item(@Nullable Object of, @Nullable Object key) {
    return switch (of) {
      case Map<?, ?> map -> map.containsKey(key) ? map.get(key) : Undefined.VALUE;
      case Namespace namespace when key instanceof String name -> member(namespace, name);
      case Collection<?> items when key instanceof Long index -> Values.at(items, index);
      case String text when key instanceof Long index -> {
        int[] points = text.codePoints().toArray();
        int at = Math.toIntExact(index < 0 ? points.length + index : index);
        yield at < 0 || at >= points.length ? Undefined.VALUE : Character.toString(points[at]);
      }
      case Undefined undefined -> throw new TemplateException("an item of an undefined value");
      case null, default -> Undefined.VALUE;
    };
  }

  private @Nullable Object slice(Expr.Slice slice) {
    Object of = value(slice.of());
    Expr stepExpr = slice.step();
    long step = stepExpr == null ? 1 : Values.integer(value(stepExpr));
    Expr from = slice.from();
    Expr to = slice.to();
    if (of instanceof String text) {
      if (step != 1) {
        throw new TemplateException("text taken in steps is not supported");
      }
      int[] points = text.codePoints().toArray();
      int begin = bound(from, 0, points.length);
      int end = Math.max(begin, bound(to, points.length, points.length));
      return new String(points, begin, end - begin);
    }
    List<@Nullable Object> items = new ArrayList<>(Values.items(of));
    if (step == -1 && from == null && to == null) {
      Collections.reverse(items);
      return items;
    }
    if (step != 1) {
      throw new TemplateException("a list taken in steps is not supported");
    }
    int begin = bound(from, 0, items.size());
    return new ArrayList<>(
        items.subList(begin, Math.max(begin, bound(to, items.size(), items.size()))));
  }

  private int bound(@Nullable Expr expr, int otherwise, int length) {
    Object value = expr == null ? null : value(expr);
    if (value == null) {
      return otherwise;
    }
    long at = Values.integer(value);
    return Math.clamp(at < 0 ? length + at : at, 0, length);
  }

  private @Nullable Object call(Expr.Function function) {
    return switch (function.name()) {
      case "namespace" -> {
        Namespace namespace = new Namespace();
        for (int i = 0; i < function.names().size(); i++) {
          namespace.values.put(function.names().get(i), value(function.named().get(i)));
        }
        yield namespace;
      }
      case "raise_exception" ->
          throw new TemplateException(
              "the template refuses: " + Values.text(value(function.arguments().getFirst())));
      case "range" -> range(function);
      default ->
          throw new TemplateException("the function '" + function.name() + "' is not supported");
    };
  }

  private List<Object> range(Expr.Function function) {
    List<Object> bounds = values(function.arguments());
    long from = bounds.size() < 2 ? 0 : Values.integer(bounds.get(0));
    long to = Values.integer(bounds.get(bounds.size() < 2 ? 0 : 1));
    if (bounds.size() > 2 || to - from > 100_000) {
      throw new TemplateException("this range is not supported");
    }
    List<Object> numbers = new ArrayList<>();
    for (long i = from; i < to; i++) {
      numbers.add(i);
    }
    return numbers;
  }

  private static Object negative(@Nullable Object value) {
    if (value instanceof Double number) {
      return -number;
    }
    return -Values.integer(value);
  }

  private @Nullable Object binary(Expr.Binary binary) {
    Object left = value(binary.left());
    switch (binary.operator()) {
      case "and" -> {
        return Values.truth(left) ? value(binary.right()) : left;
      }
      case "or" -> {
        return Values.truth(left) ? left : value(binary.right());
      }
      default -> {}
    }
    Object right = value(binary.right());
    return switch (binary.operator()) {
      case "==" -> Values.same(left, right);
      case "!=" -> !Values.same(left, right);
      case "in" -> Values.contains(right, left);
      case "not in" -> !Values.contains(right, left);
      case "~" -> Values.text(left) + Values.text(right);
      case "+" -> plus(left, right);
      case "<", ">", "<=", ">=" -> compare(binary.operator(), left, right);
      default -> arithmetic(binary.operator(), left, right);
    };
  }

  private static Object plus(@Nullable Object left, @Nullable Object right) {
    if (left instanceof String a && right instanceof String b) {
      return a + b;
    }
    if (left instanceof List<?> a && right instanceof List<?> b) {
      List<@Nullable Object> both = new ArrayList<>(a);
      both.addAll(b);
      return both;
    }
    return arithmetic("+", left, right);
  }

  private static boolean compare(String operator, @Nullable Object left, @Nullable Object right) {
    int order;
    if (left instanceof String a && right instanceof String b) {
      order = a.compareTo(b);
    } else if (left instanceof Number a && right instanceof Number b) {
      order = Double.compare(a.doubleValue(), b.doubleValue());
    } else {
      throw new TemplateException(
          "comparing " + Values.typeName(left) + " with " + Values.typeName(right));
    }
    return switch (operator) {
      case "<" -> order < 0;
      case ">" -> order > 0;
      case "<=" -> order <= 0;
      default -> order >= 0;
    };
  }

  private static Object arithmetic(String operator, @Nullable Object left, @Nullable Object right) {
    if (!(left instanceof Long a) || !(right instanceof Long b)) {
      throw new TemplateException(
          "'"
              + operator
              + "' of "
              + Values.typeName(left)
              + " and "
              + Values.typeName(right)
              + " is not supported");
    }
    return switch (operator) {
      case "+" -> a + b;
      case "-" -> a - b;
      case "*" -> a * b;
      case "//" -> Math.floorDiv(a, b);
      case "%" -> Math.floorMod(a, b);
      default -> throw new TemplateException("'" + operator + "' is not supported");
    };
  }
}
