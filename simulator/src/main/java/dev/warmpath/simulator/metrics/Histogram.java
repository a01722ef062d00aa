package dev.warmpath.simulator.metrics;

/** Counts per bucket. Not thread-safe. */
final class Histogram {
  static final double[] TOKENS = {
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000
  };
  static final double[] ITERATION_TOKENS = {
    1, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384
  };
  static final double[] CHOICES = {1, 2, 5, 10, 20};
  static final double[] FIRST_TOKEN_SECONDS = {
    .001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640,
    2_560
  };
  static final double[] GAP_SECONDS = {
    .01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80
  };
  static final double[] REQUEST_SECONDS = {
    .3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1_920, 7_680
  };
  static final double[] PREEMPTIONS = {1, 2, 3, 4, 5, 10, 20};

  private final double[] bounds;
  private final long[] counts;
  private long count;
  private double sum;

  Histogram(double[] bounds) {
    this.bounds = bounds;
    counts = new long[bounds.length];
  }

  void record(double value) {
    record(value, 1);
  }

  void record(double value, long times) {
    count += times;
    sum += value * times;
    for (int i = 0; i < bounds.length; i++) {
      if (value <= bounds[i]) {
        counts[i] += times;
        return;
      }
    }
  }

  void write(MetricsText out, String name, String labels) {
    long cumulative = 0;
    String model = labels.substring(labels.indexOf(",model_name") + 1);
    String engine = labels.substring(0, labels.indexOf(",model_name"));
    for (int i = 0; i < bounds.length; i++) {
      cumulative += counts[i];
      out.sample(
          name + "_bucket",
          engine + ",le=\"" + MetricsText.number(bounds[i]) + "\"," + model,
          cumulative);
    }
    out.sample(name + "_bucket", engine + ",le=\"+Inf\"," + model, count);
    out.sample(name + "_count", labels, count);
    out.sample(name + "_sum", labels, sum);
  }
}
