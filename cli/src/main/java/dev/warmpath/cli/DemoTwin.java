package dev.warmpath.cli;

import dev.warmpath.benchmarks.replay.VirtualTwin;
import dev.warmpath.simulator.engine.EngineProfiles;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The demo's two phases beside the same arrivals in virtual time, at the speed of the real engine.
 * Equal shares of cached tokens mean that the gateway picked as well behind HTTP and Envoy as the
 * routing code does by itself; times also hold what the machine adds, times the time scale.
 */
record DemoTwin(VirtualTwin.Outcome random, VirtualTwin.Outcome predicted, double timeScale) {

  static DemoTwin of(
      DemoWorkload workload, String profile, int workers, double timeScale, long seed) {
    List<VirtualTwin.Arrival> arrivals =
        workload.requests().stream()
            .map(request ->
                new VirtualTwin.Arrival(
                    (long) (request.arrivalNanos() * timeScale), request.prefix()))
            .toList();
    VirtualTwin.Sizes sizes =
        new VirtualTwin.Sizes(
            DemoWorkload.PREFIX_TOKENS, DemoWorkload.UNIQUE_TOKENS, DemoWorkload.ANSWER_TOKENS);
    return new DemoTwin(
        VirtualTwin.run("random", EngineProfiles.named(profile), workers, arrivals, sizes, seed),
        VirtualTwin.run(
            "predicted-ttft", EngineProfiles.named(profile), workers, arrivals, sizes, seed),
        timeScale);
  }

  List<String> table(DemoResult realRandom, DemoResult realPredicted) {
    return new Table("", ">random", ">virtual", ">Warmpath", ">virtual")
        .row(
            "TTFT p50",
            seconds(realRandom.ttftP50Millis() * timeScale / 1000),
            seconds(random.ttftP50Seconds()),
            seconds(realPredicted.ttftP50Millis() * timeScale / 1000),
            seconds(predicted.ttftP50Seconds()))
        .row(
            "TTFT p90",
            seconds(realRandom.ttftP90Millis() * timeScale / 1000),
            seconds(random.ttftP90Seconds()),
            seconds(realPredicted.ttftP90Millis() * timeScale / 1000),
            seconds(predicted.ttftP90Seconds()))
        .row(
            "end to end p50",
            seconds(realRandom.endToEndP50Millis() * timeScale / 1000),
            seconds(random.endToEndP50Seconds()),
            seconds(realPredicted.endToEndP50Millis() * timeScale / 1000),
            seconds(predicted.endToEndP50Seconds()))
        .row(
            "prompt tokens from cache",
            percent(realRandom.cachedRatio()),
            percent(random.cachedRatio()),
            percent(realPredicted.cachedRatio()),
            percent(predicted.cachedRatio()))
        .lines();
  }

  Map<String, Object> json() {
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("baseline", json(random));
    out.put("warmpath", json(predicted));
    return out;
  }

  private static Map<String, Object> json(VirtualTwin.Outcome outcome) {
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("ttft_p50_s", round(outcome.ttftP50Seconds()));
    out.put("ttft_p90_s", round(outcome.ttftP90Seconds()));
    out.put("e2e_p50_s", round(outcome.endToEndP50Seconds()));
    out.put("cached_ratio", round(outcome.cachedRatio()));
    return out;
  }

  private static double round(double value) {
    return Math.round(value * 1000) / 1000.0;
  }

  private static String seconds(double value) {
    return String.format(Locale.ROOT, "%.2f s", value);
  }

  private static String percent(double value) {
    return String.format(Locale.ROOT, "%.1f %%", value * 100);
  }
}
