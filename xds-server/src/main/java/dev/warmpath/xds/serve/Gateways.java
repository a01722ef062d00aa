package dev.warmpath.xds.serve;

import dev.warmpath.xds.rollout.Desired;
import dev.warmpath.xds.rollout.RolloutTimes;
import dev.warmpath.xds.source.NanoClock;
import dev.warmpath.xds.telemetry.XdsMetrics;
import dev.warmpath.xds.translate.EnvoyResources;
import dev.warmpath.xds.translate.EnvoyTranslator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The gateways that have been heard of. Until the first plan is there nobody is answered: an empty
 * answer would delete every cluster of an Envoy that survived us. The control thread owns it.
 */
public final class Gateways {
  private final RolloutTimes times;
  private final ControlThread control;
  private final EnvoyTranslator translator;
  private final NanoClock clock;
  private final XdsMetrics metrics;
  private final SortedMap<String, Gateway> byNode = new TreeMap<>();
  private @Nullable Desired desired;

  public Gateways(
      RolloutTimes times,
      ControlThread control,
      EnvoyTranslator translator,
      NanoClock clock,
      XdsMetrics metrics) {
    this.times = times;
    this.control = control;
    this.translator = translator;
    this.clock = clock;
    this.metrics = metrics;
  }

  /**
   * Loads and compiles what the first answers need, so that an Envoy that starts with us does not
   * run into its fetch timeout. On the control thread.
   */
  public void warmUp(Desired sample) {
    translator.translate(sample.model());
    RoutingStream.Payload.of(sample.routing());
  }

  /** From now on every gateway is to reach this. On the control thread. */
  public void publish(Desired newDesired) {
    desired = newDesired;
    for (Gateway gateway : byNode.values()) {
      gateway.desire(newDesired);
      gateway.evaluate();
    }
  }

  Gateway of(String nodeId, String nodeCluster) {
    return byNode.computeIfAbsent(
        nodeId,
        id -> {
          Gateway gateway =
              new Gateway(id, nodeCluster, times, control, translator, clock, metrics);
          if (desired != null) {
            gateway.desire(desired);
          }
          return gateway;
        });
  }

  /** How far each gateway is. On the control thread. */
  public List<GatewayReport> report() {
    EnvoyResources resources =
        desired == null ? EnvoyResources.empty() : translator.translate(desired.model());
    return byNode.values().stream().map(gateway -> gateway.report(resources)).toList();
  }
}
