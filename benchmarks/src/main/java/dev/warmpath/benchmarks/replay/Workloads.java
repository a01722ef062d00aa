package dev.warmpath.benchmarks.replay;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * The synthetic workloads. Lengths are in tokens, rates in requests per second of virtual time.
 *
 * <p>Open-loop rates are for the whole fleet. {@code closed} variants hold a number of requests in
 * flight and send the next one when one ends.
 */
final class Workloads {
  static final int PREFIX_TOKENS = 16_000;
  static final int UNIQUE_TOKENS = 256;
  static final int OUTPUT_TOKENS = 256;
  static final int SHARED_PREFIXES = 24;
  static final int TURNS = 8;

  // Lengths and rate of the conversations are those with which the published pair of medians
  // (1.70 s for a random choice, 0.59 s where every turn finds its cache) comes out for random and
  // for session-affinity. They vary, because a median over equal lengths sits on a step of the
  // engine's block and jumps from run to run.
  static final int FIRST_TURN_TOKENS = 9_500;
  static final double FIRST_TURN_SPREAD = 0.25;
  static final int TURN_TOKENS = 230;
  static final int LEAST_TURN_TOKENS = 16;
  static final double CONVERSATIONS_PER_SECOND = 0.057;

  private static final double NANOS = 1e9;

  private Workloads() {}

  /** Hands out request ids and unused segment identities. */
  private static final class Ids {
    private long nextRequest;
    private long nextSegment = 1L << 40;

    long request() {
      return nextRequest++;
    }

    long segment() {
      return nextSegment++;
    }
  }

  /** Makes the next request of a stream of independent ones. */
  private interface Maker {
    ReplayRequest next(Ids ids, RandomGenerator random);
  }

  private static ReplayRequest single(Ids ids, Prompt prompt, int outputTokens) {
    long id = ids.request();
    return new ReplayRequest(id, id, 0, prompt, outputTokens, ids.segment());
  }

  private static final class Poisson implements Workload {
    private final Maker maker;
    private final double perSecond;
    private final int requests;
    private final RandomGenerator random;

    Poisson(Maker maker, double perSecond, int requests, long seed) {
      this.maker = maker;
      this.perSecond = perSecond;
      this.requests = requests;
      this.random = new SplittableRandom(seed);
    }

    @Override
    public void start(Schedule schedule) {
      Ids ids = new Ids();
      double at = 0;
      for (int i = 0; i < requests; i++) {
        at += exponential(random, perSecond);
        schedule.at((long) (at * NANOS), maker.next(ids, random));
      }
    }
  }

  private static final class Closed implements Workload {
    private final Maker maker;
    private final int concurrency;
    private final int requests;
    private final RandomGenerator random;
    private final Ids ids = new Ids();
    private int made;

    Closed(Maker maker, int concurrency, int requests, long seed) {
      this.maker = maker;
      this.concurrency = concurrency;
      this.requests = requests;
      this.random = new SplittableRandom(seed);
    }

    @Override
    public void start(Schedule schedule) {
      for (int i = 0; i < concurrency && made < requests; i++) {
        made++;
        schedule.at(i, maker.next(ids, random));
      }
    }

    @Override
    public void ended(ReplayRequest request, long nowNanos, Schedule schedule) {
      if (made < requests) {
        made++;
        schedule.at(nowNanos, maker.next(ids, random));
      }
    }
  }

  /**
   * Conversations whose every turn repeats all earlier turns and answers. What is said in the n-th
   * conversation, and how long its user thinks, depends on the seed alone and not on the order in
   * which a rule lets turns end.
   */
  private static final class Conversations implements Workload {
    private final int turns;
    private final double perSecond;
    private final int concurrency;
    private final int conversations;
    private final double thinkSeconds;
    private final SplittableRandom random;
    private final Ids ids = new Ids();
    private final Map<Long, RandomGenerator> said = new HashMap<>();
    private int begun;

    /**
     * Open loop where {@code perSecond > 0}: new conversations per second; else closed with {@code
     * concurrency}.
     */
    Conversations(
        int turns,
        double perSecond,
        int concurrency,
        int conversations,
        double thinkSeconds,
        long seed) {
      this.turns = turns;
      this.perSecond = perSecond;
      this.concurrency = concurrency;
      this.conversations = conversations;
      this.thinkSeconds = thinkSeconds;
      this.random = new SplittableRandom(seed);
    }

    @Override
    public void start(Schedule schedule) {
      if (perSecond > 0) {
        double at = 0;
        for (int i = 0; i < conversations; i++) {
          at += exponential(random, perSecond);
          begin((long) (at * NANOS), schedule);
        }
      } else {
        for (int i = 0; i < concurrency && begun < conversations; i++) {
          begin(i, schedule);
        }
      }
    }

    private void begin(long atNanos, Schedule schedule) {
      begun++;
      long id = ids.request();
      RandomGenerator own = random.split();
      said.put(id, own);
      Prompt prompt = Prompt.empty().plus(ids.segment(), firstTurnTokens(own));
      schedule.at(atNanos, new ReplayRequest(id, id, 0, prompt, OUTPUT_TOKENS, ids.segment()));
    }

    @Override
    public void ended(ReplayRequest request, long nowNanos, Schedule schedule) {
      RandomGenerator own = said.get(request.session());
      if (own != null && request.turn() + 1 < turns) {
        Prompt prompt =
            request
                .prompt()
                .plus(request.answerId(), request.outputTokens())
                .plus(ids.segment(), turnTokens(own));
        double think = thinkSeconds == 0 ? 0 : exponential(own, 1 / thinkSeconds);
        schedule.at(
            nowNanos + (long) (think * NANOS),
            new ReplayRequest(
                ids.request(),
                request.session(),
                request.turn() + 1,
                prompt,
                OUTPUT_TOKENS,
                ids.segment()));
        return;
      }
      said.remove(request.session());
      if (perSecond <= 0 && begun < conversations) {
        begin(nowNanos, schedule);
      }
    }
  }

  /**
   * {@code siblings} requests with one new cold prefix within 10 ms, every {@code everySeconds}.
   */
  private record Burst(int siblings, int bursts, double everySeconds, long seed)
      implements Workload {
    @Override
    public void start(Schedule schedule) {
      RandomGenerator random = new SplittableRandom(seed);
      Ids ids = new Ids();
      for (int burst = 0; burst < bursts; burst++) {
        long prefix = ids.segment();
        for (int i = 0; i < siblings; i++) {
          long at = (long) ((burst * everySeconds + random.nextDouble() * 0.010) * NANOS);
          Prompt prompt =
              Prompt.empty().plus(prefix, PREFIX_TOKENS).plus(ids.segment(), UNIQUE_TOKENS);
          schedule.at(at, single(ids, prompt, OUTPUT_TOKENS));
        }
      }
    }
  }

  /** Even between both ends. */
  private static int firstTurnTokens(RandomGenerator random) {
    double offset = FIRST_TURN_SPREAD * (2 * random.nextDouble() - 1);
    return (int) Math.round(FIRST_TURN_TOKENS * (1 + offset));
  }

  /** Exponential, cut at both ends. */
  private static int turnTokens(RandomGenerator random) {
    int drawn = (int) Math.round(exponential(random, 1.0 / TURN_TOKENS));
    return Math.clamp(drawn, LEAST_TURN_TOKENS, 4 * TURN_TOKENS);
  }

  private static Maker control() {
    return (ids, random) ->
        single(
            ids, Prompt.empty().plus(ids.segment(), PREFIX_TOKENS + UNIQUE_TOKENS), OUTPUT_TOKENS);
  }

  private static Maker sharedPrefix() {
    return (ids, random) -> prefixed(ids, random.nextInt(SHARED_PREFIXES));
  }

  private static ReplayRequest prefixed(Ids ids, int prefix) {
    Prompt prompt =
        Prompt.empty().plus(prefix + 1L, PREFIX_TOKENS).plus(ids.segment(), UNIQUE_TOKENS);
    return single(ids, prompt, OUTPUT_TOKENS);
  }

  /** Prefix rank drawn with weight rank^-exponent. */
  private static Maker zipf(int prefixes, double exponent) {
    double[] cumulative = new double[prefixes];
    double sum = 0;
    for (int i = 0; i < prefixes; i++) {
      sum += Math.pow(i + 1, -exponent);
      cumulative[i] = sum;
    }
    double total = sum;
    return (ids, random) -> {
      double draw = random.nextDouble() * total;
      int low = 0;
      int high = prefixes - 1;
      while (low < high) {
        int middle = (low + high) >>> 1;
        if (cumulative[middle] < draw) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return prefixed(ids, low);
    };
  }

  static double exponential(RandomGenerator random, double perSecond) {
    return -Math.log(1 - random.nextDouble()) / perSecond;
  }

  /**
   * Prefixes that all workers together can hold, if nothing is held twice: seven 16k prefixes a
   * worker.
   */
  static int prefixesHeld(int workers) {
    return 7 * workers;
  }

  /**
   * Requests per second at which prefill and decode take {@code share} of the fleet, if the most
   * popular prefixes stay in the cache of one worker each.
   */
  static double zipfRate(int workers, double share) {
    double held = 0;
    double all = 0;
    for (int i = 0; i < 200; i++) {
      double weight = Math.pow(i + 1, -1.1);
      all += weight;
      if (i < prefixesHeld(workers)) {
        held += weight;
      }
    }
    double hit = held / all;
    // Prefill seconds of a warm and of a cold request on the reference engine, and its share of a
    // decode batch of 16.
    double workSeconds = hit * 0.27 + (1 - hit) * 6.83 + OUTPUT_TOKENS * 0.0415 / 16;
    return share * workers / workSeconds;
  }

  static Workload poisson(String name, int workers, int requests, double rateOverride, long seed) {
    double scale = workers / 3.0;
    return switch (name) {
      case "control" -> new Poisson(control(), rate(rateOverride, 0.05 * scale), requests, seed);
      case "shared-prefix", "hetero", "churn" ->
          new Poisson(sharedPrefix(), rate(rateOverride, 0.25 * scale), requests, seed);
      case "hot-skew" ->
          new Poisson(zipf(200, 1.1), rate(rateOverride, zipfRate(workers, 0.8)), requests, seed);
      case "multi-turn" ->
          new Conversations(
              TURNS,
              rate(rateOverride, CONVERSATIONS_PER_SECOND * scale),
              0,
              Math.max(1, requests / TURNS),
              5,
              seed);
      case "burst" -> new Burst(50, Math.max(1, requests / 50), 240, seed);
      default -> throw new IllegalArgumentException("no workload " + name);
    };
  }

  static Workload closed(String name, int concurrency, int requests, long seed) {
    return switch (name) {
      case "control" -> new Closed(control(), concurrency, requests, seed);
      case "shared-prefix", "hetero", "churn" ->
          new Closed(sharedPrefix(), concurrency, requests, seed);
      case "hot-skew" -> new Closed(zipf(200, 1.1), concurrency, requests, seed);
      case "multi-turn" ->
          new Conversations(TURNS, 0, concurrency, Math.max(1, requests / TURNS), 0, seed);
      default -> throw new IllegalArgumentException("workload " + name + " has no closed loop");
    };
  }

  private static double rate(double override, double standard) {
    return override > 0 ? override : standard;
  }

  static List<String> names() {
    return new ArrayList<>(
        List.of("control", "shared-prefix", "multi-turn", "burst", "hot-skew", "hetero", "churn"));
  }
}
