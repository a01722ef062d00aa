package dev.warmpath.benchmarks.jmh;

import dev.warmpath.extproc.request.Operation;
import dev.warmpath.extproc.request.ParsedBody;
import dev.warmpath.extproc.request.RequestParser;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import net.openhft.hashing.LongHashFunction;
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
 * Parse and fingerprint of one body, beside a bare hash of the same bytes and a pass that only adds
 * them up, which bound it from below.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
    value = 1,
    jvmArgsAppend = {"--sun-misc-unsafe-memory-access=allow", "-Xmx1g"})
public class RequestReadingBenchmark {
  @Param({"2048", "65536", "225280"})
  public int bytes;

  /**
   * Raw text as vendor SDKs send it; code with its line ends and quotes; every tenth character
   * escaped, at random; Chinese as UTF-8.
   */
  @Param({"plain", "code", "escaped", "chinese"})
  public String text = "plain";

  private byte[] body = new byte[0];

  @Setup
  public void body() {
    SplittableRandom random = new SplittableRandom(1);
    StringBuilder out =
        new StringBuilder("{\"messages\":[{\"role\":\"system\",\"content\":\"You help.\"}");
    int written = out.length();
    int every =
        switch (text) {
          case "escaped" -> 10;
          case "code" -> 40;
          default -> Integer.MAX_VALUE;
        };
    while (written < bytes - 60) {
      out.append(",{\"role\":\"user\",\"content\":\"");
      int length = Math.min(8_192, bytes - 60 - written);
      for (int i = 0; i < length; i++) {
        if (text.equals("chinese")) {
          out.append((char) (0x4E00 + random.nextInt(0x5000)));
          i += 2;
        } else if (random.nextInt(every) == 0) {
          out.append(random.nextInt(3) == 0 ? "\\\"" : "\\n");
          i++;
        } else {
          out.append((char) ('a' + random.nextInt(26)));
        }
      }
      out.append("\"}");
      written += length + 29;
    }
    out.append("],\"model\":\"qwen-27b\",\"stream\":true}");
    body = out.toString().getBytes(StandardCharsets.UTF_8);
  }

  @Benchmark
  public ParsedBody parseAndFingerprint() {
    return RequestParser.parse(Operation.CHAT_COMPLETIONS, body);
  }

  @Benchmark
  public long bareHash() {
    return LongHashFunction.xx3().hashBytes(body);
  }

  @Benchmark
  public long memoryPass() {
    long sum = 0;
    for (byte b : body) {
      sum += b;
    }
    return sum;
  }
}
