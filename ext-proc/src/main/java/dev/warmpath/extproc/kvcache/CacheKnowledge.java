package dev.warmpath.extproc.kvcache;

/** How well the contents of a worker's cache are known. */
public enum CacheKnowledge {
  /** Inferred from what was sent and from reported usage. */
  APPROXIMATE,

  /** Inferred, and corrected by the volumes, ages and clears that the engine reports. */
  ASSISTED,

  /** Block by block, as the engine reports it. */
  EXACT
}
