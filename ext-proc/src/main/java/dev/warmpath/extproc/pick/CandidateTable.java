package dev.warmpath.extproc.pick;

import dev.warmpath.extproc.predict.Forecast;
import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * The candidates of one decision as columns, so that a decision over a thousand workers allocates
 * nothing. Reused; guarded by the router's lock.
 */
public final class CandidateTable {
  private int size;
  private int[] target = new int[16];
  private int[] backend = new int[16];
  private int[] inFlight = new int[16];
  private int[] cachedTokens = new int[16];
  private double[] ttftSeconds = new double[16];
  private double[] queueSeconds = new double[16];
  private double[] workSeconds = new double[16];
  private double[] frontEndSeconds = new double[16];
  private double[] stepSeconds = new double[16];
  private double[] memorySeconds = new double[16];
  private double[] foreignSeconds = new double[16];
  private double[] othersSeconds = new double[16];
  private double[] faultSeconds = new double[16];
  private double[] baseWorkSeconds = new double[16];
  private double[] medianSeconds = new double[16];
  private double[] highSeconds = new double[16];
  private boolean[] queued = new boolean[16];

  public void clear() {
    size = 0;
  }

  /**
   * Adds a candidate.
   *
   * @param targetOf the caller's number of it
   * @param backendOf position of its backend in the tier
   * @param inFlightOf requests that are there now
   */
  public void add(int targetOf, int backendOf, int inFlightOf, Forecast forecast) {
    if (size == target.length) {
      grow();
    }
    int i = size++;
    target[i] = targetOf;
    backend[i] = backendOf;
    inFlight[i] = inFlightOf;
    cachedTokens[i] = forecast.cachedTokens;
    ttftSeconds[i] = forecast.ttftSeconds;
    queueSeconds[i] = forecast.queueSeconds;
    workSeconds[i] = forecast.workSeconds;
    frontEndSeconds[i] = forecast.frontEndSeconds;
    stepSeconds[i] = forecast.stepSeconds;
    memorySeconds[i] = forecast.memorySeconds;
    foreignSeconds[i] = forecast.foreignSeconds;
    othersSeconds[i] = forecast.othersSeconds;
    faultSeconds[i] = forecast.faultSeconds;
    baseWorkSeconds[i] = forecast.baseWorkSeconds;
    medianSeconds[i] = forecast.medianSeconds;
    highSeconds[i] = forecast.highSeconds;
    queued[i] = forecast.queued;
  }

  private void grow() {
    int n = size * 2;
    target = Arrays.copyOf(target, n);
    backend = Arrays.copyOf(backend, n);
    inFlight = Arrays.copyOf(inFlight, n);
    cachedTokens = Arrays.copyOf(cachedTokens, n);
    ttftSeconds = Arrays.copyOf(ttftSeconds, n);
    queueSeconds = Arrays.copyOf(queueSeconds, n);
    workSeconds = Arrays.copyOf(workSeconds, n);
    frontEndSeconds = Arrays.copyOf(frontEndSeconds, n);
    stepSeconds = Arrays.copyOf(stepSeconds, n);
    memorySeconds = Arrays.copyOf(memorySeconds, n);
    foreignSeconds = Arrays.copyOf(foreignSeconds, n);
    othersSeconds = Arrays.copyOf(othersSeconds, n);
    faultSeconds = Arrays.copyOf(faultSeconds, n);
    baseWorkSeconds = Arrays.copyOf(baseWorkSeconds, n);
    medianSeconds = Arrays.copyOf(medianSeconds, n);
    highSeconds = Arrays.copyOf(highSeconds, n);
    queued = Arrays.copyOf(queued, n);
  }

  /** Smallest predicted time; infinite if there is no candidate. */
  public double bestTtftSeconds() {
    double best = Double.POSITIVE_INFINITY;
    for (int i = 0; i < size; i++) {
      best = Math.min(best, ttftSeconds[i]);
    }
    return best;
  }

  /** Leaves only candidates of the first backend that has any. */
  public void keepFirstBackend() {
    int first = Integer.MAX_VALUE;
    for (int i = 0; i < size; i++) {
      first = Math.min(first, backend[i]);
    }
    int only = first;
    keep(i -> backend[i] == only);
  }

  /** Leaves only the candidates that pass; each is tested once, in order. */
  public void keep(IntPredicate wanted) {
    int kept = 0;
    for (int i = 0; i < size; i++) {
      if (wanted.test(i)) {
        move(i, kept++);
      }
    }
    size = kept;
  }

  private void move(int from, int to) {
    target[to] = target[from];
    backend[to] = backend[from];
    inFlight[to] = inFlight[from];
    cachedTokens[to] = cachedTokens[from];
    ttftSeconds[to] = ttftSeconds[from];
    queueSeconds[to] = queueSeconds[from];
    workSeconds[to] = workSeconds[from];
    frontEndSeconds[to] = frontEndSeconds[from];
    stepSeconds[to] = stepSeconds[from];
    memorySeconds[to] = memorySeconds[from];
    foreignSeconds[to] = foreignSeconds[from];
    othersSeconds[to] = othersSeconds[from];
    faultSeconds[to] = faultSeconds[from];
    baseWorkSeconds[to] = baseWorkSeconds[from];
    medianSeconds[to] = medianSeconds[from];
    highSeconds[to] = highSeconds[from];
    queued[to] = queued[from];
  }

  public int size() {
    return size;
  }

  public int target(int i) {
    return target[i];
  }

  public int backend(int i) {
    return backend[i];
  }

  public int inFlight(int i) {
    return inFlight[i];
  }

  public double ttftSeconds(int i) {
    return ttftSeconds[i];
  }

  /** What the choice goes by: the prompt's own time, and what it costs the prompts after it. */
  public double totalSeconds(int i) {
    return ttftSeconds[i] + othersSeconds[i];
  }

  /** Copies a row back. */
  public void read(int i, Forecast into) {
    into.cachedTokens = cachedTokens[i];
    into.ttftSeconds = ttftSeconds[i];
    into.queueSeconds = queueSeconds[i];
    into.workSeconds = workSeconds[i];
    into.frontEndSeconds = frontEndSeconds[i];
    into.stepSeconds = stepSeconds[i];
    into.memorySeconds = memorySeconds[i];
    into.foreignSeconds = foreignSeconds[i];
    into.othersSeconds = othersSeconds[i];
    into.faultSeconds = faultSeconds[i];
    into.baseWorkSeconds = baseWorkSeconds[i];
    into.medianSeconds = medianSeconds[i];
    into.highSeconds = highSeconds[i];
    into.queued = queued[i];
  }
}
