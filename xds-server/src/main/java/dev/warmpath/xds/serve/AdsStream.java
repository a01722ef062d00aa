package dev.warmpath.xds.serve;

import dev.warmpath.xds.rollout.EnvoyView;
import dev.warmpath.xds.telemetry.XdsMetrics;
import dev.warmpath.xds.translate.EnvoyResources;
import dev.warmpath.xds.translate.XdsResource;
import dev.warmpath.xds.translate.XdsType;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryResponse;
import io.envoyproxy.envoy.service.discovery.v3.Resource;
import io.grpc.stub.StreamObserver;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One Envoy's delta ADS stream. Types are answered in the order clusters, endpoints, secrets,
 * routes; a type that isn't served is passed over and never ends the stream.
 *
 * <p>The control thread owns it.
 */
final class AdsStream implements EnvoyView {
  private static final Logger log = LoggerFactory.getLogger(AdsStream.class);

  private final long id;
  private final String nodeId;
  private final StreamObserver<DeltaDiscoveryResponse> out;
  private final XdsMetrics metrics;
  private final Map<XdsType, DeltaState> states = new EnumMap<>(XdsType.class);
  private final Set<String> unknownTypes = new HashSet<>();
  private EnvoyResources target = EnvoyResources.empty();
  private long nonces;
  private boolean closed;

  AdsStream(
      long id, String nodeId, StreamObserver<DeltaDiscoveryResponse> out, XdsMetrics metrics) {
    this.id = id;
    this.nodeId = nodeId;
    this.out = out;
    this.metrics = metrics;
    for (XdsType type : XdsType.values()) {
      states.put(type, new DeltaState(type));
    }
  }

  long id() {
    return id;
  }

  void onRequest(DeltaDiscoveryRequest request) {
    XdsType type = XdsType.of(request.getTypeUrl());
    if (type == null) {
      if (unknownTypes.add(request.getTypeUrl())) {
        log.info("gateway {} asks for {}, which is not served", nodeId, request.getTypeUrl());
      }
      return;
    }
    switch (state(type).onRequest(request)) {
      case DeltaState.Verdict.None _ -> {}
      case DeltaState.Verdict.Acknowledged _ -> metrics.acknowledged(type.name());
      case DeltaState.Verdict.Refused refused -> {
        metrics.refused(type.name());
        XdsResource culprit = refused.culprit();
        if (culprit == null) {
          log.warn(
              "gateway {}: Envoy refused a response of {} {} resources, looking for the bad one:"
                  + " {}",
              nodeId,
              refused.response().resources().size(),
              type,
              refused.reason());
        } else {
          log.error(
              "gateway {}: Envoy refused {} {} of {}; it keeps what it had: {}",
              nodeId,
              type,
              culprit.name(),
              culprit.owner(),
              refused.reason());
        }
      }
    }
  }

  /** Sends what is missing. */
  void push(EnvoyResources newTarget, boolean keepUnknown) {
    target = newTarget;
    if (closed) {
      return;
    }
    for (XdsType type : XdsType.values()) {
      DeltaState.Response response =
          state(type).next(target, keepUnknown, Long.toString(nonces + 1));
      if (response == null) {
        continue;
      }
      nonces++;
      send(type, response);
      if (type == XdsType.CLUSTER) {
        response.resources().forEach(r -> state(XdsType.ENDPOINT).resend(r.name()));
      }
    }
  }

  private void send(XdsType type, DeltaState.Response response) {
    DeltaDiscoveryResponse.Builder message =
        DeltaDiscoveryResponse.newBuilder()
            .setTypeUrl(type.url())
            .setNonce(response.nonce())
            .addAllRemovedResources(response.removed());
    for (XdsResource resource : response.resources()) {
      message.addResources(
          Resource.newBuilder()
              .setName(resource.name())
              .setVersion(resource.version())
              .setResource(resource.body()));
    }
    DeltaDiscoveryResponse built = message.build();
    metrics.sent(type.name(), response.resources().size(), built.getSerializedSize());
    log.debug("gateway {}: sends {} {}", nodeId, type, response);
    out.onNext(built);
  }

  void close() {
    closed = true;
  }

  @Override
  public boolean hasCluster(String name) {
    if (!state(XdsType.CLUSTER).has(name)) {
      return false;
    }
    if (target.get(XdsType.ENDPOINT, name) != null && !state(XdsType.ENDPOINT).has(name)) {
      return false;
    }
    XdsResource cluster = target.get(XdsType.CLUSTER, name);
    return cluster == null
        || cluster.secrets().stream().allMatch(secret -> state(XdsType.SECRET).has(secret));
  }

  @Override
  public Set<String> endpoints(String cluster) {
    return state(XdsType.ENDPOINT).endpoints(cluster);
  }

  @Override
  public @Nullable String refusal(String cluster) {
    XdsResource resource = target.get(XdsType.CLUSTER, cluster);
    if (resource == null) {
      return null;
    }
    String refusal = refusal(resource);
    XdsResource endpoints = target.get(XdsType.ENDPOINT, cluster);
    if (refusal == null && endpoints != null) {
      refusal = refusal(endpoints);
    }
    for (String name : resource.secrets()) {
      XdsResource secret = target.get(XdsType.SECRET, name);
      if (refusal == null && secret != null) {
        refusal = refusal(secret);
      }
    }
    return refusal;
  }

  /** Why Envoy refused this version of the resource, or null. */
  @Nullable String refusal(XdsResource resource) {
    return state(resource.type()).refusal(resource.name(), resource.version());
  }

  boolean has(XdsResource resource) {
    return state(resource.type()).hasVersion(resource.name(), resource.version());
  }

  private DeltaState state(XdsType type) {
    DeltaState state = states.get(type);
    if (state == null) {
      throw new IllegalStateException("every type has a state: " + type);
    }
    return state;
  }
}
