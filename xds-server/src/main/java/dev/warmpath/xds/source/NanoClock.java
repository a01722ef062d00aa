package dev.warmpath.xds.source;

/** Monotonic nanoseconds with an arbitrary origin: for intervals only. */
@FunctionalInterface
public interface NanoClock {
  long nanoTime();

  /** The process's own clock. */
  static NanoClock system() {
    return System::nanoTime;
  }
}
