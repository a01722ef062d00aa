package dev.warmpath.benchmarks.jmh;

import dev.warmpath.extproc.label.Classifier;
import dev.warmpath.extproc.label.PiiClassifier;
import dev.warmpath.extproc.label.RequestText;
import java.nio.charset.StandardCharsets;
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

/**
 * Label {@code pii} of a 64 KB body without any finding, so that all of it is scanned. Target: p99
 * at most 1 ms on one core. Sample time mode gives the percentiles.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class PiiBenchmark {
  private static final int BYTES = 64 * 1024;
  private static final String[] WORDS =
      "the request was sent to a worker that holds its prefix and answers first of all with tokens"
          .split(" ", -1);

  /** Prose; code and numbers; text of which half is not ASCII. */
  @Param({"prose", "numbers", "unicode"})
  public String text = "prose";

  private final PiiClassifier classifier = new PiiClassifier();
  private byte[] body = new byte[0];

  @Setup
  public void setUp() {
    SplittableRandom random = new SplittableRandom(1);
    StringBuilder content = new StringBuilder();
    while (content.length() < BYTES) {
      switch (text) {
        case "numbers" ->
            content
                .append("t=")
                .append(random.nextInt(100_000))
                .append(" v=0.")
                .append(random.nextInt(1_000_000))
                .append(" id=7f3b9c1e-5a2d-4c8e-9b1f ");
        case "unicode" -> content.append(WORDS[random.nextInt(WORDS.length)]).append(" größe 数据 ");
        default -> content.append(WORDS[random.nextInt(WORDS.length)]).append(' ');
      }
    }
    content.setLength(BYTES);
    body =
        ("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"" + content + "\"}]}")
            .getBytes(StandardCharsets.UTF_8);
  }

  @Benchmark
  public Classifier.Verdict classify() {
    return classifier.classify(new RequestText(body));
  }
}
