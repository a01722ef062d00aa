package dev.warmpath.cli;

import java.io.Console;
import java.io.PrintStream;
import java.time.Duration;

/**
 * Text for people: colours only where a terminal shows them, progress only where somebody watches.
 */
final class Terminal {
  private static final String RESET = "\u001b[0m";

  private final PrintStream out;
  private final boolean coloured;

  Terminal(PrintStream out, boolean coloured) {
    this.out = out;
    this.coloured = coloured;
  }

  /** Standard output. */
  static Terminal standard() {
    return new Terminal(System.out, coloured());
  }

  /** A terminal that has not asked for plain text (no-color.org). */
  @SuppressWarnings("SystemConsoleNull") // It still may be null by its contract.
  static boolean coloured() {
    Console console = System.console();
    return console != null
        && console.isTerminal()
        && System.getenv("NO_COLOR") == null
        && !"dumb".equals(System.getenv("TERM"));
  }

  void line(String text) {
    out.println(text);
    out.flush();
  }

  String bold(String text) {
    return style("\u001b[1m", text);
  }

  String dim(String text) {
    return style("\u001b[2m", text);
  }

  String green(String text) {
    return style("\u001b[32m", text);
  }

  String yellow(String text) {
    return style("\u001b[33m", text);
  }

  String red(String text) {
    return style("\u001b[31m", text);
  }

  private String style(String code, String text) {
    return coloured ? code + text + RESET : text;
  }

  /** A step that takes a while: says what, then how long it took. */
  <T> T step(String what, Step<T> work) throws Exception {
    long start = System.nanoTime();
    out.print(what + " ... ");
    out.flush();
    try {
      T result = work.run();
      out.println(dim(seconds(Duration.ofNanos(System.nanoTime() - start))));
      return result;
    } catch (Exception e) {
      out.println(red("failed"));
      throw e;
    } finally {
      out.flush();
    }
  }

  interface Step<T> {
    T run() throws Exception;
  }

  /** Overwrites the current line of a terminal; says nothing elsewhere. */
  void progress(String text) {
    if (coloured) {
      out.print("\r\u001b[K" + text);
      out.flush();
    }
  }

  void endProgress() {
    if (coloured) {
      out.print("\r\u001b[K");
      out.flush();
    }
  }

  static String seconds(Duration duration) {
    return "%.1f s".formatted(duration.toMillis() / 1000.0);
  }
}
