package dev.warmpath.crds.cel;

import dev.cel.common.CelValidationException;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeFactory;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A rule of the resource schema: CEL over {@code self}, an object as the API server sees it. Only
 * standard CEL is available, so that a rule which holds here holds there. Immutable; any thread.
 */
public final class SelfRule {
  private static final CelCompiler COMPILER =
      CelCompilerFactory.standardCelCompilerBuilder()
          .setStandardMacros(CelStandardMacro.STANDARD_MACROS)
          .addVar("self", SimpleType.DYN)
          .build();

  private static final CelRuntime RUNTIME = CelRuntimeFactory.plannerRuntimeBuilder().build();

  // The rules of the records: some dozens, known when the code was compiled.
  private static final Map<String, SelfRule> COMPILED = new ConcurrentHashMap<>();

  private final CelRuntime.Program program;

  private SelfRule(CelRuntime.Program program) {
    this.program = program;
  }

  /**
   * The compiled rule.
   *
   * @throws IllegalArgumentException if it is no CEL: a mistake in this program
   */
  public static SelfRule of(String rule) {
    return COMPILED.computeIfAbsent(
        rule,
        text -> {
          try {
            return new SelfRule(RUNTIME.createProgram(COMPILER.compile(text).getAst()));
          } catch (CelValidationException | CelEvaluationException e) {
            throw new IllegalArgumentException("rule " + text, e);
          }
        });
  }

  /**
   * Whether the rule holds.
   *
   * @throws IllegalStateException if it can't be evaluated, where the API server would also refuse
   */
  public boolean holds(Map<String, Object> self) {
    try {
      return Boolean.TRUE.equals(program.eval(Map.of("self", self)));
    } catch (CelEvaluationException e) {
      throw new IllegalStateException(e);
    }
  }
}
