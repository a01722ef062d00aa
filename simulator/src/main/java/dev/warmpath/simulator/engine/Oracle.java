package dev.warmpath.simulator.engine;

import java.util.Arrays;

/**
 * What a router would know if it could see into an engine: the tokens that are really cached, the
 * work that is really ahead, and the first-token time that a request submitted now would really
 * have if nothing else arrived. Answers come from playing the engine's own rules forward, step by
 * step, until the asked request has its first token; noise and evictions that are still to come are
 * not foreseen.
 *
 * <p>Changes nothing in the engine. Buffers are reused, so one oracle serves one thread.
 */
public final class Oracle {
  private final Engine engine;
  private final EngineProfile profile;
  private final StepModel model;
  private final int block;

  // Sequences whose prompt isn't computed yet, in the order of their prefills.
  private long[][] jobChain = new long[8][];
  private int[] jobComputed = new int[8];
  private int[] jobKnown = new int[8];
  private int[] jobOutputLeft = new int[8];
  private int[] jobBlocks = new int[8];
  private int[] jobPlanned = new int[8];
  private long[] jobReadyNanos = new long[8];
  private boolean[] jobStarted = new boolean[8];
  private int jobs;

  // Sequences that decode: context and tokens that are left, blocks that their end gives back.
  private int[] decodeContext = new int[8];
  private int[] decodeLeft = new int[8];
  private int[] decodeBlocks = new int[8];
  private int decoders;
  private int freeBlocks;

  // The step that was planned last.
  private int stepPrefillTokens;
  private double stepAttention;
  private long stepContext;

  public Oracle(Engine engine) {
    this.engine = engine;
    profile = engine.profile();
    model = profile.step();
    block = profile.cache().blockTokens();
  }

  /**
   * Tokens of this prompt that would not have to be computed, counting what requests ahead of it
   * will have stored by then.
   */
  public int cachedTokens(long[] chain, int promptTokens, long atNanos) {
    long ready = atNanos + profile.frontendNanosOf(promptTokens);
    load(atNanos, ready);
    return usableBlocks(chain, promptTokens) * block;
  }

  /**
   * Time until an engine that gets no more requests would start the prefill of a further one; 0
   * when it is idle.
   */
  public long backlogNanos(long atNanos) {
    long start = load(atNanos, Long.MAX_VALUE);
    return Math.max(0, play(start, -1) - atNanos);
  }

  /**
   * First-token time of this prompt, from submission at {@code atNanos} on; {@link Long#MAX_VALUE}
   * for one that can't ever fit.
   */
  public long ttftNanos(long[] chain, int promptTokens, long atNanos) {
    if (promptTokens >= profile.maxModelTokens() || !engine.cache.canEverHold(promptTokens + 1)) {
      return Long.MAX_VALUE;
    }
    long ready = atNanos + profile.frontendNanosOf(promptTokens);
    long start = load(atNanos, ready);
    int usable = usableBlocks(chain, promptTokens);
    addJob(chain, usable * block, promptTokens, 1, ready, false);
    return play(start, jobs - 1) - atNanos;
  }

  /** Copies the state that will hold when the step in progress ends, and returns that time. */
  private long load(long atNanos, long readyBefore) {
    jobs = 0;
    decoders = 0;
    freeBlocks = engine.cache.pool.free();
    long steps = engine.stepping ? engine.stepsBefore(atNanos) + 1 : 0;
    for (int i = 0; i < engine.runningCount; i++) {
      EngineRequest request = engine.running[i];
      if (request.abortRequested) {
        continue;
      }
      int left = request.outputTokens - request.generated;
      if (Engine.decodes(request)) {
        addDecoder(request.computed + (int) steps, left - (int) steps, exclusiveBlocks(request));
      } else if (request.computed + request.planned == request.known()) {
        addDecoder(request.known(), left - 1, exclusiveBlocks(request));
      } else {
        addJob(
            request.chain,
            request.computed + request.planned,
            request.known(),
            left,
            Long.MIN_VALUE,
            true);
      }
    }
    for (EngineRequest request : engine.waiting) {
      int usable = usableBlocks(request.chain, request.known());
      addJob(
          request.chain,
          usable * block,
          request.known(),
          request.outputTokens - request.generated,
          request.readyNanos,
          false);
    }
    loadFrontend(readyBefore);
    return engine.stepping ? engine.stepEndNanos(atNanos) : atNanos;
  }

  /** Requests that leave the frontend before the asked one, in that order. */
  private void loadFrontend(long readyBefore) {
    int from = jobs;
    for (int i = 0; i < engine.frontend.size(); i++) {
      EngineRequest request = engine.frontend.get(i);
      if (request.readyNanos <= readyBefore && request.state == EngineRequest.State.FRONTEND) {
        addJob(request.chain, 0, request.known(), request.outputTokens, request.readyNanos, false);
        for (int at = jobs - 1; at > from && jobReadyNanos[at] < jobReadyNanos[at - 1]; at--) {
          swap(at, at - 1);
        }
      }
    }
    int end = jobs;
    for (jobs = from; jobs < end; jobs++) {
      setComputed(jobs, usableBlocks(jobChain[jobs], jobKnown[jobs]) * block);
    }
  }

  private int usableBlocks(long[] chain, int known) {
    int usable = engine.cache.usableBlocks(chain, known);
    int most = Math.min(chain.length, (known - 1) / block);
    boolean checkpoints = profile.cache().stateBlocks() > 0;
    for (int i = 0; i < jobs && usable < most && profile.cache().enabled(); i++) {
      int shared = Math.min(most, BlockChain.sharedBlocks(chain, jobChain[i]));
      int stored = Math.min(shared, jobKnown[i] / block);
      int checkpoint = (jobKnown[i] - 1) / block;
      usable = Math.max(usable, checkpoints && stored > checkpoint ? checkpoint : stored);
      if (checkpoints && stored < checkpoint) {
        usable = Math.min(usable, engine.cache.usableBlocks(chain, known));
      }
    }
    return usable;
  }

  /**
   * Plays forward until the prefill of job {@code last} is over, or of all when {@code last} is -1.
   */
  private long play(long startNanos, int last) {
    double now = startNanos;
    int head = 0;
    while (last < 0 ? head < jobs : jobComputed[last] < jobKnown[last]) {
      int joined = planStep(head, now);
      if (stepPrefillTokens > 0) {
        long context = stepContext + decodeContextSum();
        now += model.prefillStepNanos(stepPrefillTokens, stepAttention, context);
        decode(1);
        finishPrefills(head, joined);
      } else if (decoders > 0) {
        long sum = decodeContextSum();
        long steps = stepsUntil((double) jobReadyNanos[head] - now, stepsToNextEnd(), sum);
        now += model.decodeStepsNanos(steps, decoders, sum);
        decode(steps);
      } else {
        if (jobReadyNanos[head] <= now) {
          freeBlocks = profile.cache().blocks(); // An idle engine has its whole pool.
        }
        now = Math.max(now, (double) jobReadyNanos[head]);
      }
      while (head < jobs && jobComputed[head] == jobKnown[head]) {
        head++;
      }
    }
    return Math.round(now);
  }

  /**
   * Gives every job its chunk of the next step; returns the end of the jobs that were looked at.
   */
  private int planStep(int head, double now) {
    int budget = profile.maxBatchedTokens() - decoders;
    stepPrefillTokens = 0;
    stepAttention = 0;
    stepContext = 0;
    int started = decoders;
    int job = head;
    for (; job < jobs && budget > 0 && jobReadyNanos[job] <= now; job++) {
      if (jobComputed[job] == jobKnown[job]) {
        continue;
      }
      int tokens = engine.chunk(jobComputed[job], jobKnown[job], 0, budget);
      if (!jobStarted[job]) {
        if (tokens == 0
            || engine.tooSmallToStart(tokens, jobKnown[job] - jobComputed[job])
            || started >= profile.maxRunning()
            || jobBlocks[job] > freeBlocks) {
          break;
        }
        jobStarted[job] = true;
        freeBlocks -= jobBlocks[job];
      }
      started++;
      stepPrefillTokens += tokens;
      stepAttention += model.attentionNanos(jobComputed[job], tokens);
      stepContext += tokens > 0 ? jobComputed[job] : 0;
      jobComputed[job] += tokens;
      jobPlanned[job] = tokens;
      budget -= tokens;
    }
    return job;
  }

  private void finishPrefills(int from, int to) {
    for (int job = from; job < to; job++) {
      if (jobPlanned[job] > 0 && jobComputed[job] == jobKnown[job]) {
        addDecoder(jobKnown[job], jobOutputLeft[job] - 1, jobBlocks[job]);
      }
      jobPlanned[job] = 0;
    }
  }

  /**
   * Decode steps until {@code gapNanos} are over, but no more than {@code most}; without a gap, all
   * of them.
   */
  private long stepsUntil(double gapNanos, long most, long context) {
    if (gapNanos <= 0) {
      return most;
    }
    double one = Math.max(1, model.decodeStepsNanos(1, decoders, context));
    long steps = Math.clamp((long) Math.ceil(gapNanos / one), 1, most);
    while (steps > 1 && model.decodeStepsNanos(steps - 1, decoders, context) >= gapNanos) {
      steps--;
    }
    return steps;
  }

  private void decode(long steps) {
    int kept = 0;
    for (int i = 0; i < decoders; i++) {
      if (decodeLeft[i] > steps) {
        decodeLeft[kept] = decodeLeft[i] - (int) steps;
        decodeContext[kept] = decodeContext[i] + (int) steps;
        decodeBlocks[kept++] = decodeBlocks[i];
      } else {
        freeBlocks += decodeBlocks[i];
      }
    }
    decoders = kept;
  }

  private long stepsToNextEnd() {
    int least = Integer.MAX_VALUE;
    for (int i = 0; i < decoders; i++) {
      least = Math.min(least, decodeLeft[i]);
    }
    return least;
  }

  private long decodeContextSum() {
    long sum = 0;
    for (int i = 0; i < decoders; i++) {
      sum += decodeContext[i];
    }
    return sum;
  }

  private int exclusiveBlocks(EngineRequest request) {
    int count = 0;
    for (int i = 0; i < request.ownedBlocks; i++) {
      if (engine.cache.pool.references(request.blocks[i]) == 1) {
        count++;
      }
    }
    return count;
  }

  private void addDecoder(int context, int left, int blocks) {
    if (left <= 0) {
      freeBlocks += blocks;
      return;
    }
    if (decoders == decodeLeft.length) {
      decodeLeft = Arrays.copyOf(decodeLeft, decoders * 2);
      decodeContext = Arrays.copyOf(decodeContext, decoders * 2);
      decodeBlocks = Arrays.copyOf(decodeBlocks, decoders * 2);
    }
    decodeContext[decoders] = context;
    decodeBlocks[decoders] = blocks;
    decodeLeft[decoders++] = left;
  }

  private void addJob(
      long[] chain, int computed, int known, int outputLeft, long readyNanos, boolean started) {
    if (jobs == jobKnown.length) {
      int size = jobs * 2;
      jobChain = Arrays.copyOf(jobChain, size);
      jobComputed = Arrays.copyOf(jobComputed, size);
      jobKnown = Arrays.copyOf(jobKnown, size);
      jobOutputLeft = Arrays.copyOf(jobOutputLeft, size);
      jobBlocks = Arrays.copyOf(jobBlocks, size);
      jobPlanned = Arrays.copyOf(jobPlanned, size);
      jobReadyNanos = Arrays.copyOf(jobReadyNanos, size);
      jobStarted = Arrays.copyOf(jobStarted, size);
    }
    jobChain[jobs] = chain;
    jobPlanned[jobs] = 0;
    jobKnown[jobs] = known;
    jobOutputLeft[jobs] = outputLeft;
    jobReadyNanos[jobs] = readyNanos;
    jobStarted[jobs] = started;
    setComputed(jobs, computed);
    jobs++;
  }

  private void setComputed(int job, int computed) {
    jobComputed[job] = computed;
    jobBlocks[job] = engine.cache.blocksFor(jobKnown[job]) - computed / block;
  }

  private void swap(int a, int b) {
    long[] chain = jobChain[a];
    jobChain[a] = jobChain[b];
    jobChain[b] = chain;
    swap(jobComputed, a, b);
    swap(jobKnown, a, b);
    swap(jobOutputLeft, a, b);
    swap(jobBlocks, a, b);
    long ready = jobReadyNanos[a];
    jobReadyNanos[a] = jobReadyNanos[b];
    jobReadyNanos[b] = ready;
  }

  private static void swap(int[] values, int a, int b) {
    int kept = values[a];
    values[a] = values[b];
    values[b] = kept;
  }
}
