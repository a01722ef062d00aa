package dev.warmpath.extproc.predict;

/** One prediction, term by term, in seconds. Reused: filled in place by {@link WorkerModel}. */
public final class Forecast {
  public int promptTokens;
  public int cachedTokens;

  /** With {@link #waitNanos}. */
  public double frontEndSeconds;

  public double queueSeconds;
  public double workSeconds;
  public double stepSeconds;
  public double memorySeconds;
  public double foreignSeconds;
  public double faultSeconds;

  /**
   * What choosing this worker costs later prompts: they queue longer, or find less in its cache.
   */
  public double othersSeconds;

  /** By how much it has to leave later, so that it stays behind a prompt that it begins with. */
  public long waitNanos;

  /** When it gets into the engine's queue. */
  public long entersNanos;

  /** Blocks of the prompt that the index finds here. */
  public int matchedBlocks;

  /** Work at speed 1, for the lease. */
  public double baseWorkSeconds;

  /** Sum of the terms but {@code othersSeconds}. */
  public double ttftSeconds;

  /** The sum, corrected by how sums of this size have turned out. */
  public double medianSeconds;

  public double highSeconds;

  /** Made before the model had learnt anything: how it turns out says nothing of later ones. */
  public boolean early;

  public boolean queued;

  /** It will be computed beside the last long prompt in front of it, and not after it. */
  public boolean rides;

  /** Others that will be computed so before it. */
  public int ridersInFront;

  /** What it takes from the worker's free blocks. */
  public double claimTokens;

  /** Work that the engine has in front of it, whether this prompt waits for it or not. */
  double backlogSeconds;

  /** Queued prompts that get into the engine's queue later than this one, and their work. */
  int overtaken;

  double overtakenWorkSeconds;
}
