package dev.warmpath.crds.cel;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Iterables;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import dev.cel.checker.CelStandardDeclarations;
import dev.cel.checker.CelStandardDeclarations.StandardFunction;
import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelFunctionDecl;
import dev.cel.common.CelOptions;
import dev.cel.common.CelOverloadDecl;
import dev.cel.common.CelSource;
import dev.cel.common.CelSourceLocation;
import dev.cel.common.CelValidationException;
import dev.cel.common.CelValidationResult;
import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.navigation.CelNavigableAst;
import dev.cel.common.types.CelType;
import dev.cel.common.types.SimpleType;
import dev.cel.common.types.StructType;
import dev.cel.common.types.StructTypeReference;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerBuilder;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelFunctionBinding;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeFactory;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Compiles the expressions of policies. Stateless; any thread. The first use takes some hundred
 * milliseconds (the libraries load), later ones about one.
 *
 * <p>Every expression has type bool. What it may cost is bounded before it runs: its length and
 * depth, the steps of its loops, the size of its regular expressions, and nothing in it can build
 * text or lists larger than what it is given ({@code +} is for numbers, durations and times only).
 */
public final class CelEnvironments {
  /** The key under which a request's map answers {@code header()}. */
  public static final String HEADERS_KEY = "@headers";

  /** Characters of one expression; the schema states the same. */
  static final int MAX_LENGTH = 4096;

  private static final int MAX_REMEMBERED = 4096;
  private static final int MAX_DEPTH = 32;
  private static final int MAX_NODES = 1000;
  private static final int MAX_LOOP_STEPS = 1000;
  private static final int MAX_REGEX_PROGRAM_SIZE = 1000;

  private static final Set<String> READABLE_HEADERS =
      Set.of("user-agent", "accept-language", "content-type", "origin", "anthropic-beta");

  private static final Set<String> UNREADABLE_HEADERS =
      Set.of("x-api-key", "x-goog-api-key", "x-amz-security-token", "x-auth-token");

  private static final List<String> UNREADABLE_PREFIXES =
      List.of("x-wp-", "x-envoy-", "x-gateway-");

  private static final CelOptions OPTIONS =
      CelOptions.current()
          .maxExpressionCodePointSize(MAX_LENGTH)
          .maxParseRecursionDepth(MAX_DEPTH)
          .maxParseExpressionNodeCount(MAX_NODES)
          .comprehensionMaxIterations(MAX_LOOP_STEPS)
          .maxRegexProgramSize(MAX_REGEX_PROGRAM_SIZE)
          // kvCacheUsage < 1 compares a double with an int.
          .enableHeterogeneousNumericComparisons(true)
          .build();

  /** Where an expression stands, which decides what it can read. */
  public enum Scope {
    /** {@code spec.match.condition}: request, tenant, labels, now. */
    MATCH_CONDITION(ImmutableMap.of()),
    /** {@code spec.constraints[].when}: the same. */
    WHEN(ImmutableMap.of()),
    /**
     * {@code spec.constraints[].exclude}: also backend, and pool (which a provider does not have,
     * so that reading it fails and excludes).
     */
    EXCLUDE(ImmutableMap.of("backend", CelVariables.BACKEND, "pool", CelVariables.POOL)),
    /** {@code spec.route.tiers[].endpoints}: also backend, pool, endpoint. */
    ENDPOINTS(
        ImmutableMap.of(
            "backend",
            CelVariables.BACKEND,
            "pool",
            CelVariables.POOL,
            "endpoint",
            CelVariables.ENDPOINT));

    private final ImmutableMap<String, CelType> variables;

    Scope(ImmutableMap<String, CelType> more) {
      variables =
          ImmutableMap.<String, CelType>builder()
              .putAll(CelVariables.OF_REQUEST)
              .putAll(more)
              .buildOrThrow();
    }

    /** The names that can be read here, in the order of the documentation. */
    public List<String> variables() {
      return List.copyOf(variables.keySet());
    }
  }

  private static final String HEADER_RULE =
      "header takes the literal name of a header that policies may read: user-agent,"
          + " accept-language, content-type, origin, anthropic-beta or x-…, none that carries a"
          + " credential";

  private static final String HEADER_FUNCTION = "header";
  private static final String HEADER_OVERLOAD = "request_header_string";

  private record Source(String expression, Scope scope) {}

  // A change of one resource compiles every policy again: a check takes milliseconds.
  private static final Map<Source, CelResult> RECENT =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Source, CelResult> eldest) {
          return size() > MAX_REMEMBERED;
        }
      };

  private static final Map<Scope, CelCompiler> COMPILERS = new EnumMap<>(Scope.class);

  /**
   * Not the planner's runtime: there (0.14.0) the failure of a {@code ||} or {@code &&} is an
   * ordinary operand of {@code ==}, {@code !=} and {@code in}, so that {@code (failed || false) ==
   * true} is false instead of failing.
   */
  private static final CelRuntime RUNTIME =
      CelRuntimeFactory.legacyCelRuntimeBuilder()
          .setOptions(OPTIONS)
          .addFunctionBindings(
              CelFunctionBinding.fromOverloads(
                  HEADER_FUNCTION,
                  CelFunctionBinding.from(
                      HEADER_OVERLOAD, Object.class, String.class, CelEnvironments::header)))
          .build();

  static {
    for (Scope scope : Scope.values()) {
      COMPILERS.put(scope, compiler(scope));
    }
  }

  private CelEnvironments() {}

  /** Checks an expression. The outcome depends on the two arguments only. */
  public static CelResult compile(String expression, Scope scope) {
    Source source = new Source(expression, scope);
    synchronized (RECENT) {
      CelResult known = RECENT.get(source);
      if (known != null) {
        return known;
      }
    }
    CelResult result = check(expression, scope);
    synchronized (RECENT) {
      RECENT.put(source, result);
    }
    return result;
  }

  private static CelResult check(String expression, Scope scope) {
    if (expression.length() > MAX_LENGTH) {
      return new CelProblem(1, 1, "longer than " + MAX_LENGTH + " characters");
    }
    CelCompiler compiler = COMPILERS.get(scope);
    if (compiler == null) {
      throw new IllegalStateException("no compiler for " + scope);
    }
    try {
      CelValidationResult result = compiler.compile(expression);
      if (result.hasError()) {
        return CelMessages.problem(result.getErrors(), expression, scope);
      }
      CelAbstractSyntaxTree tree = result.getAst();
      CelProblem argument = badArgument(tree);
      if (argument != null) {
        return argument;
      }
      if (!tree.getResultType().equals(SimpleType.BOOL)) {
        return new CelProblem(
            1,
            1,
            "must be true or false, but has type " + CelMessages.typeName(tree.getResultType()));
      }
      return new Compiled(expression, scope, tree, RUNTIME.createProgram(tree));
    } catch (CelValidationException e) {
      return CelMessages.problem(e.getErrors(), expression, scope);
    } catch (CelEvaluationException | RuntimeException e) {
      // For example a regular expression that can't be compiled ahead.
      return new CelProblem(1, 1, "can't be compiled: " + CelMessages.firstLine(e));
    }
  }

  /**
   * Whether policies may read this request header: the user agent, the language, and those that
   * clients and proxies name themselves ({@code x-…}), never one that carries a credential or that
   * the gateway uses inside.
   */
  public static boolean mayReadHeader(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    if (UNREADABLE_HEADERS.contains(lower)
        || UNREADABLE_PREFIXES.stream().anyMatch(lower::startsWith)) {
      return false;
    }
    return READABLE_HEADERS.contains(lower)
        || (lower.startsWith("x-") && lower.matches("x-[a-z0-9][a-z0-9_-]{0,100}"));
  }

  static boolean isVariable(String name) {
    return Scope.ENDPOINTS.variables.containsKey(name);
  }

  private static CelCompiler compiler(Scope scope) {
    CelCompilerBuilder builder =
        CelCompilerFactory.standardCelCompilerBuilder()
            .setOptions(OPTIONS)
            .setStandardEnvironmentEnabled(false)
            .setStandardDeclarations(
                CelStandardDeclarations.newBuilder()
                    .filterFunctions((function, overload) ->
                        function != StandardFunction.ADD || !grows(overload.celOverloadDecl()))
                    .build())
            .setStandardMacros(CelStandardMacro.STANDARD_MACROS)
            .setTypeProvider(CelVariables.TYPES)
            .addFunctionDeclarations(
                CelFunctionDecl.newFunctionDeclaration(
                    HEADER_FUNCTION,
                    CelOverloadDecl.newMemberOverload(
                        HEADER_OVERLOAD,
                        SimpleType.STRING,
                        StructTypeReference.create(CelVariables.REQUEST.name()),
                        SimpleType.STRING)));
    scope.variables.forEach((name, type) ->
        builder.addVar(
            name, type instanceof StructType ? StructTypeReference.create(type.name()) : type));
    return builder.build();
  }

  /** Concatenation: repeated in nested loops it would build values of any size. */
  private static boolean grows(CelOverloadDecl overload) {
    return switch (overload.overloadId()) {
      case "add_string", "add_bytes", "add_list" -> true;
      default -> false;
    };
  }

  private static String header(Object request, String name) {
    Object headers = request instanceof Map<?, ?> map ? map.get(HEADERS_KEY) : null;
    Object value = headers instanceof Map<?, ?> map ? map.get(name.toLowerCase(Locale.ROOT)) : null;
    return value instanceof String text ? text : "";
  }

  /** A literal argument that the types can't tell to be wrong. */
  private static @Nullable CelProblem badArgument(CelAbstractSyntaxTree tree) {
    return CelNavigableAst.fromAst(tree)
        .getRoot()
        .allNodes()
        .map(node -> node.expr())
        .filter(expression -> expression.getKind() == CelExpr.ExprKind.Kind.CALL)
        .flatMap(call -> Optional.ofNullable(badArgument(tree, call)).stream())
        .findFirst()
        .orElse(null);
  }

  private static @Nullable CelProblem badArgument(CelAbstractSyntaxTree tree, CelExpr call) {
    CelExpr last = Iterables.getLast(call.call().args(), null);
    return switch (call.call().function()) {
      case HEADER_FUNCTION -> last != null && isReadable(last) ? null : at(tree, call, HEADER_RULE);
      case "matches" -> {
        String fault =
            last == null || !isText(last) ? null : regexFault(last.constant().stringValue());
        yield fault == null ? null : at(tree, call, fault);
      }
      default -> null;
    };
  }

  private static @Nullable String regexFault(String regex) {
    try {
      return Pattern.compile(regex).programSize() > MAX_REGEX_PROGRAM_SIZE
          ? "the regular expression is too large"
          : null;
    } catch (PatternSyntaxException e) {
      return "not a regular expression (RE2): " + e.getDescription();
    }
  }

  private static CelProblem at(CelAbstractSyntaxTree tree, CelExpr expression, String message) {
    CelSource source = tree.getSource();
    Integer offset = source.getPositionsMap().get(expression.id());
    CelSourceLocation place =
        source.getOffsetLocation(offset == null ? 0 : offset).orElse(CelSourceLocation.of(1, 0));
    return new CelProblem(place.getLine(), place.getColumn() + 1, message);
  }

  private static boolean isReadable(CelExpr argument) {
    return isText(argument) && mayReadHeader(argument.constant().stringValue());
  }

  private static boolean isText(CelExpr argument) {
    return argument.getKind() == CelExpr.ExprKind.Kind.CONSTANT
        && argument.constant().getKind() == CelConstant.Kind.STRING_VALUE;
  }
}
