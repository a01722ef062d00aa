package dev.warmpath.xds.serve;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.config.proto.RoutingConfigRequest;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.xds.rollout.Desired;
import dev.warmpath.xds.rollout.GatewayRollout;
import dev.warmpath.xds.rollout.RolloutTimes;
import dev.warmpath.xds.source.NanoClock;
import dev.warmpath.xds.telemetry.XdsMetrics;
import dev.warmpath.xds.translate.EnvoyResources;
import dev.warmpath.xds.translate.EnvoyTranslator;
import dev.warmpath.xds.translate.XdsResource;
import dev.warmpath.xds.translate.XdsType;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryResponse;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One gateway: the streams of its Envoy and of its processor, and the rollout that orders them. The
 * control thread owns it.
 */
final class Gateway {
  private static final Logger log = LoggerFactory.getLogger(Gateway.class);

  /** A clock that is a little off must not make a wake-up that finds nothing to do spin. */
  private static final Duration SHORTEST_WAKE = Duration.ofMillis(5);

  private final String nodeId;
  private final String nodeCluster;
  private final ControlThread control;
  private final EnvoyTranslator translator;
  private final NanoClock clock;
  private final XdsMetrics metrics;
  private final GatewayRollout rollout;
  private final Map<Long, AdsStream> envoys = new TreeMap<>();
  private @Nullable RoutingStream processor;
  private RoutingStream.@Nullable Payload payload;
  private @Nullable Future<?> wake;
  private @Nullable EnvoyResources pushed;
  private long streams;

  Gateway(
      String nodeId,
      String nodeCluster,
      RolloutTimes times,
      ControlThread control,
      EnvoyTranslator translator,
      NanoClock clock,
      XdsMetrics metrics) {
    this.nodeId = nodeId;
    this.nodeCluster = nodeCluster;
    this.control = control;
    this.translator = translator;
    this.clock = clock;
    this.metrics = metrics;
    rollout = new GatewayRollout(times, clock.nanoTime());
  }

  String nodeId() {
    return nodeId;
  }

  String nodeCluster() {
    return nodeCluster;
  }

  void desire(Desired desired) {
    rollout.desire(desired);
  }

  AdsStream envoyConnected(StreamObserver<DeltaDiscoveryResponse> out) {
    AdsStream stream = new AdsStream(++streams, nodeId, out, metrics);
    envoys.put(stream.id(), stream);
    rollout.envoyConnected(stream.id(), stream);
    log.info("gateway {}: Envoy connected", nodeId);
    return stream;
  }

  void envoyDisconnected(AdsStream stream) {
    stream.close();
    envoys.remove(stream.id());
    rollout.envoyDisconnected(stream.id(), clock.nanoTime());
    log.info("gateway {}: Envoy disconnected", nodeId);
    evaluate();
  }

  void processorConnected(RoutingStream stream, String versionInForce) {
    RoutingStream before = processor;
    processor = stream;
    if (before != null) {
      before.replaced();
    }
    rollout.processorConnected(versionInForce, clock.nanoTime());
    log.info(
        "gateway {}: processor connected, routes by {}",
        nodeId,
        versionInForce.isEmpty() ? "nothing yet" : versionInForce);
  }

  void processorAnswered(RoutingStream stream, RoutingConfigRequest request) {
    if (stream != processor) {
      return;
    }
    String version = stream.versionOf(request.getResponseNonce());
    if (version == null) {
      return;
    }
    if (request.getErrorDetail().isEmpty()) {
      metrics.routing("acked");
      rollout.processorAcknowledged(version);
      log.debug("gateway {}: processor routes by {}", nodeId, version);
    } else {
      metrics.routing("nacked");
      rollout.processorRefused(version, request.getErrorDetail());
      log.error(
          "gateway {}: processor refused configuration {}; it keeps what it had: {}",
          nodeId,
          version,
          request.getErrorDetail());
    }
  }

  void processorDisconnected(RoutingStream stream) {
    if (stream == processor) {
      processor = null;
      rollout.processorDisconnected(clock.nanoTime());
      log.info("gateway {}: processor disconnected", nodeId);
      evaluate();
    }
  }

  /** Sends what is to be sent now, and comes back when time alone changes that. */
  void evaluate() {
    long now = clock.nanoTime();
    GatewayRollout.Target target = rollout.envoyTarget(now);
    if (target == null) {
      return;
    }
    EnvoyResources resources = translator.translate(target.model());
    pushed = resources;
    envoys.values().forEach(envoy -> envoy.push(resources, target.keepUnknown()));
    RoutingConfiguration next = rollout.processorNext(now);
    if (next != null && processor != null) {
      if (payload == null || !payload.routing().equals(next)) {
        payload = RoutingStream.Payload.of(next);
      }
      if (!rollout.processorHasRefused(payload.version())) {
        rollout.processorSent(payload.version(), next, now);
        metrics.routing("sent");
        processor.send(payload);
      }
    }
    scheduleWake(now);
  }

  private void scheduleWake(long now) {
    if (wake != null) {
      wake.cancel(false);
      wake = null;
    }
    long at = rollout.wakeNanos();
    if (at != Long.MAX_VALUE) {
      Duration delay = Duration.ofNanos(Math.max(at - now, SHORTEST_WAKE.toNanos()));
      wake = control.runAfter(delay, this::evaluate);
    }
  }

  /** How far this gateway is with what is desired. */
  GatewayReport report(EnvoyResources desired) {
    Map<Resource.Key, Integer> pending = new HashMap<>();
    Map<Resource.Key, List<String>> refusals = new HashMap<>();
    // What is held for a while besides the desired is no reason to call the desired outstanding.
    EnvoyResources wanted = pushed == null ? desired : pushed;
    for (XdsType type : XdsType.values()) {
      for (XdsResource resource : wanted.of(type).values()) {
        for (AdsStream envoy : envoys.values()) {
          if (!envoy.has(resource)) {
            pending.merge(resource.owner(), 1, Integer::sum);
          }
          String refusal = envoy.refusal(resource);
          if (refusal != null) {
            refusals.computeIfAbsent(resource.owner(), k -> new ArrayList<>()).add(refusal);
          }
        }
      }
    }
    return new GatewayReport(
        nodeId,
        nodeCluster,
        envoys.size(),
        processor != null,
        pending,
        refusals,
        rollout.processorRouting(),
        rollout.processorRefusal());
  }
}
