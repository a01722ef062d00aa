package dev.warmpath.benchmarks.overhead;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@code warmpath bench overhead}: what the gateway adds to an instant upstream, compared with a
 * plain Envoy under the same load in the same run. The rounds of the two take turns, so that a slow
 * minute of the machine hits both.
 */
@Command(
    name = "overhead",
    mixinStandardHelpOptions = true,
    description =
        "What the gateway costs: a plain Envoy and the product before the same instant upstream.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  warmpath bench overhead --json",
      "  warmpath bench overhead --size 2048,225280 --concurrency 1 --requests 500"
    })
public final class OverheadBenchmark implements Callable<Integer> {
  static final String PATH = "/v1/chat/completions";
  private static final int BODIES = 64;

  @Option(
      names = "--size",
      split = ",",
      paramLabel = "BYTES",
      description = "Body sizes (default: 2048,65536,225280,1048576).")
  private List<Integer> sizes = List.of(2_048, 65_536, 225_280, 1_048_576);

  @Option(names = "--concurrency", split = ",", description = "Connections (default: 1,20).")
  private List<Integer> concurrencies = List.of(1, 20);

  @Option(
      names = "--requests",
      description =
          "Requests of a round at 2 KiB; larger bodies take fewer (default: ${DEFAULT-VALUE}).")
  private int requests = 1_000;

  @Option(
      names = "--rounds",
      description = "Rounds of each target; the median counts (default: ${DEFAULT-VALUE}).")
  private int rounds = 3;

  @Option(
      names = "--warm-up",
      description = "Requests before anything counts (default: ${DEFAULT-VALUE}).")
  private int warmUp = 4_000;

  @Option(
      names = "--envoy-threads",
      description = "Worker threads of each Envoy (default: ${DEFAULT-VALUE}).")
  private int envoyThreads = 2;

  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  /** One target at one size and concurrency; CPU times are milliseconds a request, per process. */
  record Row(
      String target,
      int sizeBytes,
      int concurrency,
      int requests,
      int failed,
      String firstFailure,
      double p50Ms,
      double p99Ms,
      double minMs,
      double firstByteP50Ms,
      double requestsPerSecond,
      double envoyCpuMs,
      @Nullable Double javaCpuMs,
      double envoyRssMb,
      @Nullable Double javaRssMb) {}

  /** The product less the plain Envoy. */
  record Added(
      int sizeBytes,
      int concurrency,
      double addedP50Ms,
      double addedP99Ms,
      double envoyCpuMs,
      double javaCpuMs,
      double plainEnvoyCpuMs,
      int failed) {}

  @Override
  public Integer call() throws Exception {
    List<Row> rows = new ArrayList<>();
    List<Added> added = new ArrayList<>();
    try (Testbed bed = new Testbed(envoyThreads)) {
      say("warming up");
      for (int size : sizes) {
        List<byte[]> bodies = Bodies.chat(size, BODIES, size);
        int n = scaled(warmUp, size);
        Load.run(bed.plain, PATH, bodies, 4, n / 4);
        Load.run(bed.product, PATH, bodies, 4, n);
      }
      for (int size : sizes) {
        List<byte[]> bodies = Bodies.chat(size, BODIES, size + 1L);
        for (int concurrency : concurrencies) {
          say(size + " bytes, " + concurrency + " connections");
          List<Row> plain = new ArrayList<>();
          List<Row> product = new ArrayList<>();
          List<Row> direct = new ArrayList<>();
          for (int round = 0; round < rounds; round++) {
            direct.add(measure("direct", bed.upstream, null, null, size, concurrency, bodies));
            plain.add(measure("envoy", bed.plain, bed.plainEnvoy, null, size, concurrency, bodies));
            product.add(
                measure(
                    "warmpath",
                    bed.product,
                    bed.productEnvoy,
                    bed.processor,
                    size,
                    concurrency,
                    bodies));
          }
          Row before = median(plain);
          Row after = median(product);
          rows.add(median(direct));
          rows.add(before);
          rows.add(after);
          Double java = after.javaCpuMs();
          added.add(
              new Added(
                  size,
                  concurrency,
                  after.p50Ms() - before.p50Ms(),
                  after.p99Ms() - before.p99Ms(),
                  after.envoyCpuMs(),
                  java == null ? Double.NaN : java,
                  before.envoyCpuMs(),
                  after.failed()));
        }
      }
    }
    System.out.println(json ? json(rows, added) : table(added));
    return added.stream().allMatch(row -> row.failed() == 0) ? 0 : 1;
  }

  private int scaled(int count, int size) {
    return Math.max(60, (int) (count / (1 + size / 65_536.0)));
  }

  private Row measure(
      String target,
      InetSocketAddress address,
      @Nullable ProcessCost envoy,
      @Nullable ProcessCost java,
      int size,
      int concurrency,
      List<byte[]> bodies)
      throws InterruptedException {
    int count = scaled(requests, size);
    double envoyBefore = envoy == null ? 0 : envoy.cpuMillis();
    double javaBefore = java == null ? 0 : java.cpuMillis();
    Load.Measured measured = Load.run(address, PATH, bodies, concurrency, count);
    // The access log is flushed after a tenth of a second; its cost belongs to these requests.
    Thread.sleep(300);
    return new Row(
        target,
        size,
        concurrency,
        measured.requests(),
        measured.failed(),
        measured.firstFailure(),
        measured.p50Millis(),
        measured.p99Millis(),
        measured.minMillis(),
        measured.firstByteP50Millis(),
        measured.perSecond(),
        envoy == null ? 0 : (envoy.cpuMillis() - envoyBefore) / count,
        java == null ? null : (java.cpuMillis() - javaBefore) / count,
        envoy == null ? 0 : envoy.residentMebibytes(),
        java == null ? null : java.residentMebibytes());
  }

  /** The round with the median p50; failures of all rounds are in it. */
  private static Row median(List<Row> rounds) {
    List<Row> sorted = new ArrayList<>(rounds);
    sorted.sort((a, b) -> Double.compare(a.p50Ms(), b.p50Ms()));
    Row middle = sorted.get(sorted.size() / 2);
    int failed = rounds.stream().mapToInt(Row::failed).sum();
    String failure =
        rounds.stream()
            .map(Row::firstFailure)
            .filter(text -> !text.isEmpty())
            .findFirst()
            .orElse("");
    return new Row(
        middle.target(),
        middle.sizeBytes(),
        middle.concurrency(),
        middle.requests(),
        failed,
        failure,
        middle.p50Ms(),
        middle.p99Ms(),
        middle.minMs(),
        middle.firstByteP50Ms(),
        middle.requestsPerSecond(),
        middle.envoyCpuMs(),
        middle.javaCpuMs(),
        middle.envoyRssMb(),
        middle.javaRssMb());
  }

  private static String json(List<Row> rows, List<Added> added) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("java", Runtime.version().toString());
    document.put("processors", Runtime.getRuntime().availableProcessors());
    document.put("added", added);
    document.put("results", rows);
    return JsonMapper.builder()
        .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
        .build()
        .writerWithDefaultPrettyPrinter()
        .writeValueAsString(document);
  }

  private static String table(List<Added> added) {
    StringBuilder text =
        new StringBuilder(
            """
            |  bytes | c | added p50 ms | added p99 ms | Envoy CPU ms | Java CPU ms | plain Envoy CPU ms | failed |
            | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
            """);
    for (Added row : added) {
      text.append(
          String.format(
              Locale.ROOT,
              "| %d | %d | %.2f | %.2f | %.2f | %.2f | %.2f | %d |%n",
              row.sizeBytes(),
              row.concurrency(),
              row.addedP50Ms(),
              row.addedP99Ms(),
              row.envoyCpuMs(),
              row.javaCpuMs(),
              row.plainEnvoyCpuMs(),
              row.failed()));
    }
    return text.toString();
  }

  private static void say(String what) {
    System.err.println("overhead: " + what);
  }
}
