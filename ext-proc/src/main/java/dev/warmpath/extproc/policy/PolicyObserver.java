package dev.warmpath.extproc.policy;

/** Hears about every plan that became a decision. Thread-safe; never throws. */
@FunctionalInterface
public interface PolicyObserver {
  void planned(PolicyTrace trace);
}
