package dev.warmpath.benchmarks.jmh;

import java.io.IOException;

/** Runs the micro-benchmarks; arguments are those of JMH (a pattern, {@code -f}, {@code -i}, …). */
public final class JmhMain {
  private JmhMain() {}

  public static void main(String[] args) throws IOException {
    org.openjdk.jmh.Main.main(args);
  }
}
