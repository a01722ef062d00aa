package dev.warmpath.extproc.policy;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.google.protobuf.Duration;
import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelFunctionDecl;
import dev.cel.common.CelOverloadDecl;
import dev.cel.common.CelValidationException;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelFunctionBinding;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeFactory;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Compiles the CEL of policies: to primitive nodes where it can, else to the CEL runtime. */
final class ExpressionCompiler {
  private static final Set<String> ROOTS =
      Set.of("request", "tenant", "labels", "backend", "pool", "endpoint", "now");

  /** Enough for every expression of a large configuration; a reload changes few of them. */
  private static final int CACHED_EXPRESSIONS = 10_000;

  private final Cache<String, Expression> compiled =
      Caffeine.newBuilder().maximumSize(CACHED_EXPRESSIONS).build();
  private final CelCompiler compiler;
  private final CelRuntime runtime;

  private ExpressionCompiler(CelCompiler compiler, CelRuntime runtime) {
    this.compiler = compiler;
    this.runtime = runtime;
  }

  static ExpressionCompiler create() {
    var builder =
        CelCompilerFactory.standardCelCompilerBuilder()
            .setStandardMacros(CelStandardMacro.STANDARD_MACROS)
            .addFunctionDeclarations(
                CelFunctionDecl.newFunctionDeclaration(
                    "header",
                    CelOverloadDecl.newMemberOverload(
                        "request_header_string",
                        SimpleType.STRING,
                        SimpleType.DYN,
                        SimpleType.STRING)));
    ROOTS.forEach(root -> builder.addVar(root, SimpleType.DYN));
    CelRuntime runtime =
        CelRuntimeFactory.legacyCelRuntimeBuilder()
            .addFunctionBindings(
                CelFunctionBinding.from(
                    "request_header_string",
                    RuntimeExpression.Fields.class,
                    String.class,
                    RuntimeExpression.Fields::header))
            .build();
    return new ExpressionCompiler(builder.build(), runtime);
  }

  Expression condition(String text) {
    return compile(text);
  }

  Expression when(String text) {
    return compile(text);
  }

  Expression exclude(String text) {
    return compile(text);
  }

  Expression endpoints(String text) {
    return compile(text);
  }

  private Expression compile(String text) {
    return compiled.get(text, this::translate);
  }

  private Expression translate(String text) {
    try {
      CelAbstractSyntaxTree tree = compiler.compile(text).getAst();
      Set<String> roots = new HashSet<>();
      collectRoots(tree.getExpr(), roots);
      Node.Bool node = new NodeCompiler(this::durationNanos).bool(tree.getExpr());
      return node == null
          ? new RuntimeExpression(text, roots, runtime.createProgram(tree))
          : new NodeExpression(text, roots, node);
    } catch (CelValidationException | CelEvaluationException e) {
      return Expression.broken(text, "does not compile: " + e.getMessage());
    }
  }

  private @Nullable Long durationNanos(CelExpr call) {
    try {
      if (call.call().args().size() != 1
          || call.call().args().getFirst().getKind() != CelExpr.ExprKind.Kind.CONSTANT) {
        return null;
      }
      CelAbstractSyntaxTree tree =
          compiler
              .compile("duration('" + call.call().args().getFirst().constant().stringValue() + "')")
              .getAst();
      return switch (runtime.createProgram(tree).eval()) {
        case Duration proto -> Math.addExact(proto.getSeconds() * 1_000_000_000L, proto.getNanos());
        case java.time.Duration duration -> duration.toNanos();
        default -> null;
      };
    } catch (CelValidationException
        | CelEvaluationException
        | UnsupportedOperationException
        | ArithmeticException e) {
      return null;
    }
  }

  /** Every variable that the tree names; one that a comprehension binds is not among them. */
  private static void collectRoots(CelExpr expression, Set<String> roots) {
    switch (expression.getKind()) {
      case IDENT -> {
        if (ROOTS.contains(expression.ident().name())) {
          roots.add(expression.ident().name());
        }
      }
      case SELECT -> collectRoots(expression.select().operand(), roots);
      case CALL -> {
        expression.call().target().ifPresent(target -> collectRoots(target, roots));
        expression.call().args().forEach(arg -> collectRoots(arg, roots));
      }
      case LIST -> expression.list().elements().forEach(element -> collectRoots(element, roots));
      case MAP ->
          expression
              .map()
              .entries()
              .forEach(entry -> {
                collectRoots(entry.key(), roots);
                collectRoots(entry.value(), roots);
              });
      case STRUCT ->
          expression.struct().entries().forEach(entry -> collectRoots(entry.value(), roots));
      case COMPREHENSION -> {
        CelExpr.CelComprehension loop = expression.comprehension();
        collectRoots(loop.iterRange(), roots);
        collectRoots(loop.accuInit(), roots);
        collectRoots(loop.loopCondition(), roots);
        collectRoots(loop.loopStep(), roots);
        collectRoots(loop.result(), roots);
      }
      case CONSTANT, NOT_SET -> {}
    }
  }

  /** The common case. */
  private static final class NodeExpression extends Expression {
    private final Node.Bool node;

    NodeExpression(String text, Set<String> roots, Node.Bool node) {
      super(text, roots);
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
