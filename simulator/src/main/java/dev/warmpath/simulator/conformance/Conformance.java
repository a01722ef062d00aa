package dev.warmpath.simulator.conformance;

import java.io.IOException;
import java.net.URI;
import java.util.List;

/**
 * Runs the whole list against any server and prints what it does not keep: {@code Conformance URL
 * MODEL}. Ends with 1 where something is wrong.
 */
public final class Conformance {
  private Conformance() {}

  /** A check, whatever its kind. */
  @FunctionalInterface
  private interface Run {
    List<String> problems() throws IOException, InterruptedException;
  }

  public static void main(String[] arguments) throws InterruptedException {
    URI server = URI.create(arguments[0]);
    String model = arguments[1];
    int kept = 0;
    int broken = 0;
    for (WireCheck check : WireChecks.of(model)) {
      if (keeps(check.name(), () -> check.problems(WireProbe.exchange(server, check.request())))) {
        kept++;
      } else {
        broken++;
      }
    }
    for (LiveChecks.LiveCheck check : LiveChecks.all()) {
      if (keeps(check.name(), () -> check.body().run(server, model))) {
        kept++;
      } else {
        broken++;
      }
    }
    System.out.println(kept + " of " + (kept + broken) + " kept");
    System.exit(broken == 0 ? 0 : 1);
  }

  private static boolean keeps(String name, Run run) throws InterruptedException {
    List<String> problems;
    try {
      problems = run.problems();
    } catch (IOException e) {
      problems = List.of(String.valueOf(e.getMessage()));
    }
    if (!problems.isEmpty()) {
      System.out.println(name + ": " + problems);
    }
    return problems.isEmpty();
  }
}
