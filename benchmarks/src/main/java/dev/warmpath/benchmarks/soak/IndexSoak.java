package dev.warmpath.benchmarks.soak;

import dev.warmpath.extproc.index.PrefixIndex;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Inserts blocks into the prefix index for as long as asked, with conversations that grow, workers
 * that restart and workers that change their size, and checks on the way that it stays inside its
 * budget and finds what was inserted last.
 */
@Command(
    name = "index-soak",
    mixinStandardHelpOptions = true,
    description = "Inserts many blocks into the prefix index and watches its memory.")
public final class IndexSoak implements Callable<Integer> {
  private static final long MODEL = 42;
  private static final int WORKERS = 64;
  private static final int CHAIN = 256;
  private static final int CONVERSATIONS = 512;

  @Option(names = "--inserts", description = "Blocks to insert (default: ${DEFAULT-VALUE}).")
  private long inserts = 100_000_000;

  @Option(names = "--budget-mib", description = "Budget of the index (default: ${DEFAULT-VALUE}).")
  private long budgetMib = 64;

  @Option(names = "--seed", description = "First seed (default: ${DEFAULT-VALUE}).")
  private long seed = 1;

  /**
   * What a run showed.
   *
   * @param inserted blocks that were written, known ones included
   * @param mostBytes largest size of all arrays at any time
   * @param notFound prompts of which the worker that got them last did not hold all blocks
   */
  public record Outcome(
      long inserted,
      long mostBytes,
      long budgetBytes,
      long liveEntries,
      long forgottenEntries,
      long notFound,
      double nanosPerInsert) {}

  @Override
  public Integer call() {
    Outcome outcome = run(inserts, budgetMib << 20, seed);
    System.out.printf(
        Locale.ROOT,
        "%,d blocks inserted in %.0f ns each; at most %,d of %,d bytes (%.1f a live entry); %,d live"
            + " entries, %,d of forgotten workers; %d prompts not found%n",
        outcome.inserted(),
        outcome.nanosPerInsert(),
        outcome.mostBytes(),
        outcome.budgetBytes(),
        (double) outcome.mostBytes() / Math.max(1, outcome.liveEntries()),
        outcome.liveEntries(),
        outcome.forgottenEntries(),
        outcome.notFound());
    return outcome.notFound() == 0 && outcome.mostBytes() <= outcome.budgetBytes() ? 0 : 1;
  }

  /** Runs until at least {@code inserts} blocks have been written. */
  public static Outcome run(long inserts, long budgetBytes, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    PrefixIndex index = new PrefixIndex(budgetBytes);
    // Together more than the budget holds, so that it, and not the workers' sizes, is the bound.
    int fair = (int) (budgetBytes / PrefixIndex.BYTES_PER_ENTRY / WORKERS);
    List<PrefixIndex.Holder> holders = new ArrayList<>();
    for (int w = 0; w < WORKERS; w++) {
      holders.add(index.newHolder(2 * fair));
    }
    long[][] chains = new long[CONVERSATIONS][CHAIN];
    int[] lengths = new int[CONVERSATIONS];
    long inserted = 0;
    long mostBytes = 0;
    long notFound = 0;
    long started = System.nanoTime();
    while (inserted < inserts) {
      int c = random.nextInt(CONVERSATIONS);
      if (lengths[c] == CHAIN) {
        lengths[c] = 0; // a new conversation takes its place
      }
      int length = Math.min(CHAIN, lengths[c] + 1 + random.nextInt(CHAIN / 4));
      for (int i = lengths[c]; i < length; i++) {
        chains[c][i] = random.nextLong();
      }
      lengths[c] = length;
      PrefixIndex.Holder holder = holders.get(random.nextInt(WORKERS));
      switch (random.nextInt(2_000)) {
        case 0 -> index.forget(holder);
        case 1 -> index.limit(holder, Math.max(CHAIN, random.nextInt(4 * fair)));
        default -> {}
      }
      index.expect(holder, MODEL, chains[c], length);
      inserted += length;
      if (index.match(holder, MODEL, chains[c], length) != length) {
        notFound++;
      }
      mostBytes = Math.max(mostBytes, index.bytes());
    }
    return new Outcome(
        inserted,
        mostBytes,
        budgetBytes,
        index.liveEntries(),
        index.forgottenEntries(),
        notFound,
        (double) (System.nanoTime() - started) / inserted);
  }
}
