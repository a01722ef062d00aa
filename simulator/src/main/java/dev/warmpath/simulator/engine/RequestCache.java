package dev.warmpath.simulator.engine;

import java.util.Arrays;

/**
 * What the scheduler asks of the block pool for a request: how much of it is stored, room for the
 * next tokens, and giving everything back tail first, so that the end of a sequence is forgotten
 * before its head.
 */
final class RequestCache {
  private static final long STATE_SALT = 0x3C6EF372FE94F82BL;
  private static final int[] NO_BLOCKS = {};

  final BlockPool pool;
  private final CacheModel model;
  private final int block;
  private CacheListener listener;

  RequestCache(CacheModel model, CacheListener listener) {
    this.model = model;
    this.listener = listener;
    block = model.blockTokens();
    pool = new BlockPool(model.blocks(), listener);
  }

  void listener(CacheListener other) {
    listener = other;
    pool.listener(other);
  }

  /** Whether a sequence of this length fits into the empty pool. */
  boolean canEverHold(int tokens) {
    return blocksFor(tokens) + (model.stateBlocks() > 0 ? 2 * model.stateBlocks() : 0)
        <= model.blocks();
  }

  /**
   * Leading blocks of the chain that are stored and usable by a sequence of {@code known} tokens,
   * of which the last must always be computed.
   */
  int usableBlocks(long[] chain, int known) {
    int stored = storedBlocks(chain, known);
    return model.stateBlocks() == 0 ? stored : lastCheckpoint(chain, stored);
  }

  private int storedBlocks(long[] chain, int known) {
    if (!model.enabled()) {
      return 0;
    }
    int most = Math.min(chain.length, (known - 1) / block);
    int stored = 0;
    while (stored < most && pool.find(chain[stored]) >= 0) {
      stored++;
    }
    return stored;
  }

  private int lastCheckpoint(long[] chain, int stored) {
    int at = stored;
    while (at > 0 && !hasCheckpoint(chain[at - 1])) {
      at--;
    }
    return at;
  }

  private boolean hasCheckpoint(long hash) {
    for (int i = 0; i < model.stateBlocks(); i++) {
      if (pool.find(stateHash(hash, i)) < 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * Takes a request in if the pool has room: uses the {@code usable} stored blocks and reserves
   * blocks up to {@code tokensAfter} tokens. The whole of what is known must fit now, so that a
   * prompt is never started that can't be finished.
   */
  boolean admit(EngineRequest request, int usable, int tokensAfter) {
    int fromFreeQueue = 0;
    for (int i = 0; i < usable; i++) {
      if (pool.unused(pool.find(request.chain[i]))) {
        fromFreeQueue++;
      }
    }
    int state = model.stateBlocks();
    boolean resumes = usable > 0 && state > 0;
    for (int i = 0; resumes && i < state; i++) {
      if (pool.unused(checkpointBlock(request, usable, i))) {
        fromFreeQueue++;
      }
    }
    int wanted = blocksFor(request.known()) - usable + fromFreeQueue + 2 * state;
    if (wanted > pool.free()) {
      return false;
    }
    int most = blocksFor(request.promptTokens + request.outputTokens);
    if (request.blocks.length < most) {
      request.blocks = new int[most];
    }
    for (int i = 0; i < usable; i++) {
      int found = pool.find(request.chain[i]);
      pool.use(found);
      request.blocks[i] = found;
    }
    request.ownedBlocks = usable;
    request.sealedBlocks = usable;
    request.computed = usable * block;
    if (state > 0) {
      int stored = storedBlocks(request.chain, request.known());
      request.junctionTokens = stored > usable ? stored * block : 0;
      for (int i = 0; resumes && i < state; i++) {
        // In use like the blocks of the prefix, so that both are forgotten at about the same time.
        int found = checkpointBlock(request, usable, i);
        pool.use(found);
        addState(request, found);
      }
      takeState(request);
    }
    if (!grow(request, tokensAfter)) {
      throw new IllegalStateException("blocks were counted as free and are not");
    }
    return true;
  }

  /** Owns blocks for {@code tokensAfter} tokens, or changes nothing and says no. */
  boolean grow(EngineRequest request, int tokensAfter) {
    int target = blocksFor(tokensAfter);
    if (target - request.ownedBlocks > pool.free()) {
      return false;
    }
    while (request.ownedBlocks < target) {
      request.blocks[request.ownedBlocks++] = pool.take();
    }
    return true;
  }

  /** Steps that a decoder can run before it needs a further block. */
  int roomTokens(EngineRequest request) {
    return request.ownedBlocks * block - request.computed;
  }

  /** Makes every block findable that is full when {@code tokensAfter} tokens are computed. */
  void seal(EngineRequest request, int tokensAfter) {
    if (!model.enabled()) {
      return;
    }
    int from = request.sealedBlocks;
    int to = Math.min(tokensAfter / block, request.chain.length);
    if (to <= from) {
      return;
    }
    for (int i = from; i < to; i++) {
      pool.store(request.blocks[i], request.chain[i]);
    }
    request.sealedBlocks = to;
    listener.onStored(request, from, to);
  }

  /**
   * Keeps the recurrent state at {@code tokens}, if such state is modelled and a checkpoint belongs
   * there.
   */
  void checkpoint(EngineRequest request, int tokens) {
    if (model.stateBlocks() == 0 || tokens == 0 || tokens % block != 0) {
      return;
    }
    int index = tokens / block - 1;
    if (index >= request.chain.length
        || (tokens != lastBoundary(request.promptTokens) && tokens != request.junctionTokens)
        || hasCheckpoint(request.chain[index])
        || pool.free() < model.stateBlocks()) {
      return;
    }
    for (int i = 0; i < model.stateBlocks(); i++) {
      int taken = pool.take();
      pool.storeSilently(taken, stateHash(request.chain[index], i));
      addState(request, taken);
    }
  }

  /** The last block boundary that leaves at least one token to compute. */
  int lastBoundary(int tokens) {
    return (tokens - 1) / block * block;
  }

  /** Gives everything back, the tail first. */
  void release(EngineRequest request) {
    for (int i = request.ownedBlocks - 1; i >= 0; i--) {
      pool.release(request.blocks[i]);
    }
    for (int taken : request.stateBlocks) {
      pool.release(taken);
    }
    request.ownedBlocks = 0;
    request.sealedBlocks = 0;
    request.stateBlocks = NO_BLOCKS;
    request.blocks = NO_BLOCKS;
  }

  int blocksFor(int tokens) {
    return (tokens + block - 1) / block;
  }

  private void takeState(EngineRequest request) {
    for (int i = 0; i < model.stateBlocks(); i++) {
      addState(request, pool.take());
    }
  }

  private int checkpointBlock(EngineRequest request, int usable, int part) {
    return pool.find(stateHash(request.chain[usable - 1], part));
  }

  private static void addState(EngineRequest request, int block) {
    request.stateBlocks = Arrays.copyOf(request.stateBlocks, request.stateBlocks.length + 1);
    request.stateBlocks[request.stateBlocks.length - 1] = block;
  }

  private static long stateHash(long hash, int part) {
    return BlockChain.mix(hash + STATE_SALT * (part + 1));
  }
}
