package dev.warmpath.extproc.kvcache;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one worker's cache from its events: a ledger for each rank, how full it was when
 * it began to throw blocks out, and what running requests are about to add.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
public final class WorkerCache {
  /** Room for a cache of 16 million tokens in blocks of 16; 50 MB if it is ever filled. */
  private static final int MAX_BLOCKS = 1 << 20;

  /** A ledger that began late knows everything that matters when it fills the cache. */
  private static final double NEARLY_ALL = 0.95;

  /** Distinct blocks that running requests may be about to add: at most 12 MB. */
  private static final int MAX_EXPECTED = 1 << 18;

  /** Events of what an answered request has computed arrive within this time after its end. */
  private static final long ARRIVAL_NANOS = 1_000_000_000L;

  private static final int MAX_ANSWERED = 1_024;

  /** An answered request whose last events may be on their way. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record Answered(long[] chain, long untilNanos) {}

  private final List<BlockLedger> ledgers = new ArrayList<>();
  private final LongCounts expected = new LongCounts();
  private final ArrayDeque<Answered> answered = new ArrayDeque<>();
  private boolean live;
  private String reason = "no events yet";
  private long capacityTokens;

  /** The stream of a rank begins. */
  public void began(int rank, int ranks, boolean empty) {
    forgetAnswered();
    while (ledgers.size() > ranks) {
      ledgers.removeLast();
    }
    while (ledgers.size() < ranks) {
      ledgers.add(new BlockLedger(MAX_BLOCKS));
    }
    ledgers.get(rank).reset(empty);
  }

  /** Everything was thrown out. */
  public void cleared(int rank) {
    forgetAnswered();
    ledger(rank).reset(true);
  }

  private void forgetAnswered() {
    for (Answered one : answered) {
      remove(one.chain());
    }
    answered.clear();
  }

  /** Whether events can be relied on now, and why not. */
  public void live(boolean now, String why) {
    live = now;
    reason = why;
    if (!now) {
      forgetAnswered();
      ledgers.forEach(BlockLedger::lost);
    }
  }

  public void lost(int rank, String why) {
    ledger(rank).lost();
    reason = why;
  }

  public BlockLedger ledger(int rank) {
    if (rank >= ledgers.size()) {
      began(rank, rank + 1, false);
    }
    return ledgers.get(rank);
  }

  /** The cache has begun to throw out while it held that much. */
  public void full() {
    if (ledgers.stream().allMatch(BlockLedger::complete)) {
      capacityTokens = residentTokens();
    }
  }

  /** Another process may have another cache. */
  public void forgetCapacity() {
    capacityTokens = 0;
  }

  /** Tokens that it held when it last began to throw out, or null where that was not seen. */
  public @Nullable Long capacityTokens() {
    return live && capacityTokens > 0 ? capacityTokens : null;
  }

  /** Tokens of all blocks in it. */
  public long residentTokens() {
    return ledgers.stream().mapToLong(BlockLedger::residentTokens).sum();
  }

  public long bytes() {
    return ledgers.stream().mapToLong(BlockLedger::bytes).sum() + expected.bytes();
  }

  /**
   * How well the contents are known.
   *
   * @param tokenizer whether prompts can be told in tokens
   * @param cacheTokens size of the cache as the worker reports it, or null
   */
  public CacheKnowledge knowledge(boolean tokenizer, @Nullable Long cacheTokens) {
    if (!live || ledgers.isEmpty()) {
      return CacheKnowledge.APPROXIMATE;
    }
    return tokenizer && inexact(cacheTokens) == null
        ? CacheKnowledge.EXACT
        : CacheKnowledge.ASSISTED;
  }

  /** Why it is not known exactly, for people; empty where it is. */
  public String reason(String tokenizerProblem, @Nullable Long cacheTokens) {
    if (!live || ledgers.isEmpty()) {
      return reason;
    }
    String inexact = inexact(cacheTokens);
    return inexact != null ? inexact : tokenizerProblem;
  }

  private @Nullable String inexact(@Nullable Long cacheTokens) {
    if (ledgers.size() > 1) {
      return "the engine chooses among " + ledgers.size() + " ranks itself";
    }
    BlockLedger ledger = ledgers.getFirst();
    if (ledger.sparse()) {
      return "the model has layers without a contiguous prefix";
    }
    boolean filled = cacheTokens != null && ledger.residentTokens() >= NEARLY_ALL * cacheTokens;
    return ledger.complete() || filled
        ? null
        : reason.isEmpty() ? "earlier events were not seen" : reason;
  }

  /** Tokens of one block; 0 while none was seen. */
  public int blockTokens() {
    return ledgers.isEmpty() ? 0 : ledgers.getFirst().blockTokens();
  }

  /** What the name of that model adds to the identity of blocks: nothing, or that of an adapter. */
  public long adapter(String model) {
    long name = TokenChain.text(model);
    return !ledgers.isEmpty() && ledgers.getFirst().adapters().contains(name) ? name : 0;
  }

  /** Whether requests with a cache salt can be told apart. */
  public boolean tellsExtras() {
    return !ledgers.isEmpty() && ledgers.getFirst().tellsExtras();
  }

  /** Blocks of a prompt that are there, or will be when running requests have computed theirs. */
  public int match(long[] chain) {
    BlockLedger ledger = ledger(0);
    int held = 0;
    while (held < chain.length && (ledger.holds(chain[held]) || expected.contains(chain[held]))) {
      held++;
    }
    return held;
  }

  /**
   * A request is on its way that will compute these. Returns whether it was noted; each that was
   * must be {@link #over} or {@link #answered} once.
   */
  public boolean expect(long[] chain) {
    if (expected.size() + chain.length > MAX_EXPECTED) {
      return false;
    }
    for (long name : chain) {
      expected.add(name);
    }
    return true;
  }

  /** That request has ended without an answer: only what was told in events is there. */
  public void over(long[] chain) {
    remove(chain);
  }

  /** That request was answered, so all of it has been computed, but not all of it told yet. */
  public void answered(long[] chain, long nowNanos) {
    expire(nowNanos);
    BlockLedger ledger = ledger(0);
    boolean told = chain.length == 0 || ledger.match(chain) == chain.length;
    if (told || answered.size() == MAX_ANSWERED) {
      remove(chain);
    } else {
      answered.addLast(new Answered(chain, nowNanos + ARRIVAL_NANOS));
    }
  }

  /** From then on only events count for requests that were answered long before. */
  public void expire(long nowNanos) {
    Answered oldest;
    while ((oldest = answered.peekFirst()) != null && oldest.untilNanos() - nowNanos < 0) {
      remove(oldest.chain());
      answered.removeFirst();
    }
  }

  private void remove(long[] chain) {
    for (long name : chain) {
      expected.remove(name);
    }
  }

  /** Distinct blocks that are expected; none when nothing runs. */
  public int expectedBlocks() {
    return expected.size();
  }
}
