package dev.warmpath.extproc.pick;

import dev.warmpath.crds.v1alpha1.PoolSpec;
import java.util.random.RandomGenerator;

/**
 * Orders candidates: the pick first, then what a retry should try.
 *
 * <p>{@code PredictedTTFT} takes the earliest predicted first token. Predictions within 2 % are
 * equal as far as anybody can tell, so one of them is drawn at random, weighted by how little is in
 * flight there; a fixed order among equals would send every burst to the first worker.
 *
 * <p>Not thread-safe: guarded by the router's lock, which also holds between the pick and its
 * reservation.
 */
public final class Picker {
  /** The pick and two more. */
  public static final int MAX_ORDER = 3;

  private static final double EQUAL_RATIO = 0.02;

  private final RandomGenerator random;
  private final int[] order = new int[MAX_ORDER];
  private int roundRobin;

  public Picker(RandomGenerator random) {
    this.random = random;
  }

  /** The result of the last {@link #order} call. */
  public int ordered(int rank) {
    return order[rank];
  }

  /**
   * Orders the best candidates.
   *
   * @param affinity hash that stands for the prompt's prefix, for {@code PrefixAffinity}
   * @return how many are ordered, at most {@link #MAX_ORDER}
   */
  public int order(CandidateTable table, PoolSpec.Algorithm algorithm, long affinity) {
    int count = Math.min(MAX_ORDER, table.size());
    if (count == 0) {
      return 0;
    }
    int turn = roundRobin++;
    for (int rank = 0; rank < count; rank++) {
      order[rank] =
          switch (algorithm) {
            case PredictedTTFT -> earliest(table, rank);
            case LeastRequest -> fewest(table, rank);
            case RoundRobin -> Math.floorMod(turn + rank, table.size());
            case Random -> any(table, rank);
            case PrefixAffinity -> nearest(table, rank, affinity);
          };
    }
    return count;
  }

  private boolean taken(int candidate, int rank) {
    for (int r = 0; r < rank; r++) {
      if (order[r] == candidate) {
        return true;
      }
    }
    return false;
  }

  private int earliest(CandidateTable table, int rank) {
    double best = Double.POSITIVE_INFINITY;
    for (int i = 0; i < table.size(); i++) {
      if (table.totalSeconds(i) < best && !taken(i, rank)) {
        best = table.totalSeconds(i);
      }
    }
    double limit = best * (1 + EQUAL_RATIO);
    double weights = 0;
    int chosen = -1;
    for (int i = 0; i < table.size(); i++) {
      if (table.totalSeconds(i) <= limit && !taken(i, rank)) {
        double weight = 1.0 / (1 + table.inFlight(i));
        weights += weight;
        if (chosen < 0 || random.nextDouble() * weights < weight) {
          chosen = i;
        }
      }
    }
    return chosen;
  }

  private int fewest(CandidateTable table, int rank) {
    int best = Integer.MAX_VALUE;
    int chosen = -1;
    int equal = 0;
    for (int i = 0; i < table.size(); i++) {
      if (taken(i, rank)) {
        continue;
      }
      if (table.inFlight(i) < best) {
        best = table.inFlight(i);
        chosen = i;
        equal = 1;
      } else if (table.inFlight(i) == best && random.nextInt(++equal) == 0) {
        chosen = i;
      }
    }
    return chosen;
  }

  private int any(CandidateTable table, int rank) {
    int chosen;
    do {
      chosen = random.nextInt(table.size());
    } while (taken(chosen, rank));
    return chosen;
  }

  /** Rendezvous hashing: a worker that leaves moves only its own prompts. */
  private int nearest(CandidateTable table, int rank, long affinity) {
    long best = Long.MIN_VALUE;
    int chosen = -1;
    for (int i = 0; i < table.size(); i++) {
      long score = mix(affinity ^ mix(table.target(i) + 1L));
      if (!taken(i, rank) && (chosen < 0 || score > best)) {
        best = score;
        chosen = i;
      }
    }
    return chosen;
  }

  private static long mix(long value) {
    long h = value * 0x9E3779B97F4A7C15L;
    h = (h ^ (h >>> 32)) * 0xD6E8FEB86659FD93L;
    return h ^ (h >>> 32);
  }
}
