package dev.warmpath.benchmarks.jmh;

import dev.warmpath.extproc.index.PrefixIndex;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Match against one holder, and insert with eviction, of a prompt of 256 blocks. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = "-Xmx1g")
public class IndexBenchmark {
  private static final int CHAINS = 512;

  @Param({"16", "256"})
  public int blocks;

  private final PrefixIndex index = new PrefixIndex(64L << 20);
  private final List<PrefixIndex.Holder> holders = new ArrayList<>();
  private final List<long[]> chains = new ArrayList<>();
  private int turn;

  @Setup
  public void fill() {
    SplittableRandom random = new SplittableRandom(3);
    for (int h = 0; h < 32; h++) {
      holders.add(index.newHolder(16 * blocks));
    }
    for (int c = 0; c < CHAINS; c++) {
      long[] chain = new long[blocks];
      for (int i = 0; i < blocks; i++) {
        chain[i] = random.nextLong();
      }
      chains.add(chain);
      index.expect(holders.get(c % 32), 7, chain, blocks);
    }
  }

  @Benchmark
  public int match() {
    turn = (turn + 1) % CHAINS;
    return index.match(holders.get(turn % 32), 7, chains.get(turn), blocks);
  }

  @Benchmark
  public void insertAndEvict() {
    turn = (turn + 37) % CHAINS;
    index.expect(holders.get((turn / 32) % 32), 7, chains.get(turn), blocks);
  }
}
