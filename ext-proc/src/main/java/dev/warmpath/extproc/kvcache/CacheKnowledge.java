package dev.warmpath.extproc.kvcache;

/** How well the contents of a worker's cache are known. */
public enum CacheKnowledge {
  /** Inferred from what was sent and from reported usage. */
  APPROXIMATE(0),

  /** Inferred, and corrected by the volumes, ages and clears that the engine reports. */
  ASSISTED(1),

  /** Block by block, as the engine reports it. */
  EXACT(2);

  private final int level;

  CacheKnowledge(int level) {
    this.level = level;
  }

  /** As the metric shows it; more is better. */
  public int level() {
    return level;
  }
}
