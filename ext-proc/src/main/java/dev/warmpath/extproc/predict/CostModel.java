package dev.warmpath.extproc.predict;

import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import dev.warmpath.extproc.lease.Turn;

/**
 * What one prompt costs on one kind of hardware with one model, learnt while it serves.
 *
 * <pre>
 *   service = f0 + f1 p                   engine front end, only where the prompt's turn came at once
 *           + r                           rest of the running step, only where it queued
 *           + (a u + b (p^2 - c^2)) (1 + g d)     its own prefill, slowed by d requests that decode
 *           + s [d > 0]                   rest of a decode step, where its turn came at once
 * </pre>
 *
 * <p>p prompt tokens, c of them cached, u = p - c. {@code a} is the linear layers' cost of a token,
 * {@code b} attention's: u new tokens attend to c old ones and to each other, which sums to (p^2 -
 * c^2) / 2.
 *
 * <p>Fit: least squares on exponentially forgotten sums, drawn towards a prior (ridge), with all
 * coefficients kept non-negative by coordinate descent. The sums are 7 x 7, so an update costs
 * about a microsecond and needs no history. Each sample is divided by its worker's speed first, and
 * by its expected spread (3 % and 25 ms), and a sample further than three spreads off is weighted
 * down (Huber), so that one stall moves nothing.
 *
 * <p>Assumptions: prefill is serial and in order; one step budget. Error: a first token can come up
 * to one step after the prompt's last chunk, because chunks of two prompts share a step. That is
 * noise here, and belongs to the quantiles.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
public final class CostModel {
  private static final int F0 = 0;
  private static final int F1 = 1;
  private static final int A = 2;
  private static final int B = 3;
  private static final int G = 4;
  private static final int R = 5;
  private static final int S = 6;
  private static final int N = 7;

  /**
   * Scales that bring every coefficient near 1 second: thousands of tokens, (10k tokens) squared.
   */
  private static final double KILO = 1e-3;

  private static final double SQUARE = 1e-8;

  /** Where nobody knows anything: a 7B model on a mid-range GPU, 5,000 tokens a second. */
  private static final double DEFAULT_SECONDS_PER_KILO = 0.2;

  /** About 300 samples of memory: minutes on a busy pool, yet steady. */
  private static final double FORGETTING = 0.997;

  private static final double NOISE_SECONDS = 0.025;
  private static final double NOISE_RATIO = 0.03;
  private static final double HUBER = 3.0;

  private final double[] prior = new double[N];
  private final double[] priorWeight = new double[N];
  private final double[][] squares = new double[N][N];
  private final double[] products = new double[N];
  private final double[] theta = new double[N];
  private final double[] x = new double[N];
  private final boolean profiled;
  private long samples;

  public CostModel(WorkerSetSpec.Profile profile) {
    Double tokensPerSecond = profile.prefillTokensPerSecond();
    double a =
        tokensPerSecond == null || tokensPerSecond <= 0
            ? DEFAULT_SECONDS_PER_KILO
            : 1_000 / tokensPerSecond;
    profiled = tokensPerSecond != null;
    prior(F0, 0.015, 0.03);
    prior(F1, 0.004, 0.005);
    prior(A, a, tokensPerSecond == null ? 3 * a : 0.2 * a);
    prior(B, 0, 0.5 * a);
    prior(G, 0, 0.01 * a);
    prior(R, 0, 0.1);
    prior(S, 0.01, 0.02);
    System.arraycopy(prior, 0, theta, 0, N);
  }

  private void prior(int i, double mean, double spread) {
    prior[i] = mean;
    priorWeight[i] = 1 / (spread * spread);
  }

  /**
   * What a worker's own counters say of its past: the prior where the operator gave none and
   * nothing has been learnt yet. Means include attention, so it is a little high for short prompts.
   */
  void history(double secondsPerToken) {
    if (profiled || samples > 0 || secondsPerToken <= 0) {
      return;
    }
    double a = secondsPerToken / KILO;
    prior(A, a, 0.5 * a);
    prior(B, 0, 0.5 * a);
    prior(G, 0, 0.01 * a);
    System.arraycopy(prior, 0, theta, 0, N);
  }

  /** Prefill seconds of a prompt by itself, at speed 1. */
  public double workSeconds(double prompt, double cached) {
    return theta[A] * KILO * (prompt - cached)
        + theta[B] * SQUARE * (prompt * prompt - cached * cached);
  }

  /** Slow-down of prefill by requests that decode: multiply work with it. */
  public double interference(int decoding) {
    double a = theta[A];
    return a <= 0 ? 1 : 1 + Math.min(2, theta[G] / a * decoding);
  }

  /** Front end of the engine. */
  public double frontEndSeconds(double prompt) {
    return theta[F0] + theta[F1] * KILO * prompt;
  }

  /** What is left of the running step when a prompt's turn comes. */
  public double stepRestSeconds(boolean idle, int decoding) {
    return idle ? (decoding > 0 ? theta[S] : 0) : theta[R];
  }

  /** Samples learnt from. */
  public long samples() {
    return samples;
  }

  /** The time that this model expects of a turn, at speed 1. */
  double expected(Turn turn) {
    features(turn);
    return dot();
  }

  /**
   * Learns from one turn.
   *
   * @param seconds how long it took, divided by the worker's speed factor
   */
  void learn(Turn turn, double seconds) {
    features(turn);
    double expected = dot();
    double spread = NOISE_SECONDS + NOISE_RATIO * expected;
    double error = Math.abs(seconds - expected) / spread;
    double weight = (error > HUBER ? HUBER / error : 1) / (spread * spread);
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < N; j++) {
        squares[i][j] = FORGETTING * squares[i][j] + weight * x[i] * x[j];
      }
      products[i] = FORGETTING * products[i] + weight * x[i] * seconds;
    }
    samples++;
    solve();
  }

  private void features(Turn turn) {
    boolean idle = turn.idle();
    double kilo = KILO * turn.uncachedTokens();
    x[F0] = idle ? 1 : 0;
    x[F1] = idle ? KILO * turn.firstPromptTokens() : 0;
    x[A] = kilo;
    x[B] = SQUARE * turn.squaredTokens();
    x[G] = kilo * turn.decoding();
    x[R] = idle ? 0 : 1;
    x[S] = idle && turn.decoding() > 0 ? 1 : 0;
  }

  private double dot() {
    double sum = 0;
    for (int i = 0; i < N; i++) {
      sum += theta[i] * x[i];
    }
    return sum;
  }

  /** Coordinate descent from where it stands: few sweeps, as one sample moves little. */
  private void solve() {
    for (int sweep = 0; sweep < 12; sweep++) {
      for (int i = 0; i < N; i++) {
        double rest = products[i] + priorWeight[i] * prior[i];
        for (int j = 0; j < N; j++) {
          if (j != i) {
            rest -= squares[i][j] * theta[j];
          }
        }
        theta[i] = Math.max(0, rest / (squares[i][i] + priorWeight[i]));
      }
    }
  }

  @Override
  public String toString() {
    return "f0=%.4f f1=%.4f a=%.4f b=%.4f g=%.5f r=%.4f s=%.4f n=%d"
        .formatted(theta[F0], theta[F1], theta[A], theta[B], theta[G], theta[R], theta[S], samples);
  }
}
