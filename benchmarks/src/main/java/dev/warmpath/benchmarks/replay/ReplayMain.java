package dev.warmpath.benchmarks.replay;

import picocli.CommandLine;

/** The replay as a program of its own. */
public final class ReplayMain {
  private ReplayMain() {}

  public static void main(String[] args) {
    System.exit(new CommandLine(new ReplayCommand()).execute(args));
  }
}
