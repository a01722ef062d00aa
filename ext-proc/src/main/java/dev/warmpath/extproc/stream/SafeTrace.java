package dev.warmpath.extproc.stream;

/** Describes an exception without its message, which may hold a part of a prompt. */
public final class SafeTrace {
  private static final int MAX_FRAMES = 8;
  private static final int MAX_CAUSES = 4;

  private SafeTrace() {}

  public static String of(Throwable thrown) {
    StringBuilder out = new StringBuilder();
    Throwable cause = thrown;
    for (int depth = 0; cause != null && depth < MAX_CAUSES; depth++, cause = cause.getCause()) {
      out.append(depth == 0 ? "" : " caused by ").append(cause.getClass().getName());
      StackTraceElement[] frames = cause.getStackTrace();
      for (int i = 0; i < Math.min(MAX_FRAMES, frames.length); i++) {
        out.append(i == 0 ? " at " : " < ")
            .append(frames[i].getClassName())
            .append('.')
            .append(frames[i].getMethodName())
            .append(':')
            .append(frames[i].getLineNumber());
      }
    }
    return out.toString();
  }
}
