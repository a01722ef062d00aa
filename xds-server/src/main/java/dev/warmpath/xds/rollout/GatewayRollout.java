package dev.warmpath.xds.rollout;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.xds.model.Endpoint;
import dev.warmpath.xds.model.GatewayModel;
import dev.warmpath.xds.model.PoolCluster;
import dev.warmpath.xds.model.ProviderCluster;
import dev.warmpath.xds.model.Secret;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Brings one gateway (one node id: an Envoy and its processor) to what is desired, in an order in
 * which no request is told to use what isn't there.
 *
 * <pre>
 *   desired changes ──> Envoy: old and new together ──ack──> processor: new ──ack, linger──> Envoy: new alone
 * </pre>
 *
 * <p>There is no phase to be stuck in: each decision is a function of what is desired, what Envoy
 * has acknowledged and what the processor may name at this moment. So changes may come faster than
 * they are acknowledged.
 *
 * <p>Not thread-safe; every call is made by the one control thread. Times are readings of one
 * monotonic clock.
 */
public final class GatewayRollout {
  private final RolloutTimes times;
  private final ProcessorState processor;
  private final Map<Long, EnvoyView> envoys = new HashMap<>();
  private final Map<Object, Long> unnamedSince = new HashMap<>();
  private final Map<String, Long> missingSince = new HashMap<>();
  private final Map<Names.EndpointName, Long> missingEndpointSince = new HashMap<>();
  private long envoySinceNanos;
  private @Nullable Desired desired;
  private Names desiredNames = Names.NONE;
  private GatewayModel target = GatewayModel.empty();
  private long wakeNanos = Long.MAX_VALUE;

  public GatewayRollout(RolloutTimes times, long nowNanos) {
    this.times = times;
    processor = new ProcessorState(times.processorAbsent(), nowNanos);
    envoySinceNanos = nowNanos;
  }

  // Events

  public void desire(Desired newDesired) {
    desired = newDesired;
    desiredNames = Names.of(newDesired.routing());
  }

  public void envoyConnected(long stream, EnvoyView view) {
    envoys.put(stream, view);
  }

  public void envoyDisconnected(long stream, long nowNanos) {
    if (envoys.remove(stream) != null && envoys.isEmpty()) {
      envoySinceNanos = nowNanos;
    }
  }

  /** {@code versionInForce} is empty where the processor routes by nothing yet. */
  public void processorConnected(String versionInForce, long nowNanos) {
    processor.connected(versionInForce, nowNanos);
  }

  public void processorDisconnected(long nowNanos) {
    processor.disconnected(nowNanos);
  }

  public void processorSent(String version, RoutingConfiguration routing, long nowNanos) {
    processor.sent(new ProcessorState.Sent(version, routing, Names.of(routing), nowNanos));
  }

  public void processorAcknowledged(String version) {
    processor.acknowledged(version);
  }

  public void processorRefused(String version, String reason) {
    processor.refused(version, reason);
  }

  // Questions about the state

  public boolean hasEnvoy() {
    return !envoys.isEmpty();
  }

  public boolean hasProcessor() {
    return processor.isConnected();
  }

  public @Nullable String processorRefusal() {
    return processor.refusal();
  }

  /** The configuration that the processor has acknowledged last, or null. */
  public @Nullable RoutingConfiguration processorRouting() {
    ProcessorState.Sent acknowledged = processor.acknowledged();
    return acknowledged == null ? null : acknowledged.routing();
  }

  /** When to ask again although nothing happened; {@link Long#MAX_VALUE} for never. */
  public long wakeNanos() {
    return wakeNanos;
  }

  // Decisions

  /** What Envoy is to have now; null while nothing is known of what is desired. */
  public @Nullable Target envoyTarget(long nowNanos) {
    if (desired == null) {
      return null;
    }
    wakeNanos = Long.MAX_VALUE;
    Hold hold = new Hold(nowNanos);
    SortedMap<String, PoolCluster> pools = new TreeMap<>();
    desired.model().pools().forEach(pool -> pools.put(pool.name(), pool));
    for (PoolCluster before : target.pools()) {
      PoolCluster now = pools.get(before.name());
      if (now != null) {
        pools.put(before.name(), withHeld(before, now, hold));
      } else if (hold.cluster(before.name())) {
        pools.put(before.name(), before);
      }
    }
    SortedMap<String, ProviderCluster> providers = new TreeMap<>();
    desired.model().providers().forEach(provider -> providers.put(provider.name(), provider));
    for (ProviderCluster before : target.providers()) {
      if (!providers.containsKey(before.name()) && hold.cluster(before.name())) {
        providers.put(before.name(), before);
      }
    }
    unnamedSince.keySet().retainAll(hold.asked);
    target =
        new GatewayModel(
            List.copyOf(pools.values()),
            List.copyOf(providers.values()),
            secrets(providers.values()),
            desired.model().issuers());
    return new Target(target, hold.everything);
  }

  /**
   * What Envoy is to have.
   *
   * @param model the clusters, endpoints and secrets
   * @param keepUnknown what Envoy has besides stays: it comes from an earlier control plane, and
   *     the processor may still name it
   */
  public record Target(GatewayModel model, boolean keepUnknown) {}

  /**
   * The configuration that the processor is to be sent now, or null if it has it, or if Envoy is
   * waited for. Call after {@link #envoyTarget}.
   */
  public @Nullable RoutingConfiguration processorNext(long nowNanos) {
    if (desired == null || !processor.isConnected()) {
      return null;
    }
    RoutingConfiguration wanted = desired.routing();
    if (envoys.isEmpty()) {
      long ready = envoySinceNanos + times.envoyAbsent().toNanos();
      // With nothing in force there is nothing to lose: an Envoy that starts opens its listener
      // only once it has been sent its clusters.
      if (nowNanos < ready && !processor.routesByNothing()) {
        wakeAt(ready);
        return null;
      }
      return unlessSent(wanted);
    }
    Names all = desiredNames;
    Names usable = usable(all);
    if (waitsFor(all, usable, nowNanos)) {
      return null;
    }
    return unlessSent(Restriction.restrict(wanted, all, usable));
  }

  private @Nullable RoutingConfiguration unlessSent(RoutingConfiguration wanted) {
    ProcessorState.Sent pending = processor.pending();
    ProcessorState.Sent last = pending != null ? pending : processor.acknowledged();
    return last != null && last.routing().equals(wanted) ? null : wanted;
  }

  public boolean processorHasRefused(String version) {
    return processor.hasRefused(version);
  }

  /** Whether Envoy lacks something that is still worth waiting for. */
  private boolean waitsFor(Names all, Names usable, long nowNanos) {
    boolean waits = false;
    missingSince.keySet().retainAll(all.clusters());
    for (String cluster : all.clusters()) {
      if (usable.clusters().contains(cluster)) {
        missingSince.remove(cluster);
      } else if (refusal(cluster) == null) {
        waits |= isRecent(missingSince.computeIfAbsent(cluster, c -> nowNanos), nowNanos);
      }
    }
    missingEndpointSince.keySet().retainAll(all.endpoints());
    for (Names.EndpointName endpoint : all.endpoints()) {
      if (usable.endpoints().contains(endpoint)) {
        missingEndpointSince.remove(endpoint);
      } else if (refusal(endpoint.cluster()) == null) {
        waits |= isRecent(missingEndpointSince.computeIfAbsent(endpoint, e -> nowNanos), nowNanos);
      }
    }
    return waits;
  }

  private boolean isRecent(long sinceNanos, long nowNanos) {
    long until = sinceNanos + times.envoyAck().toNanos();
    if (nowNanos >= until) {
      return false;
    }
    wakeAt(until);
    return true;
  }

  /**
   * What may be named: what every connected Envoy has, and what the processor names already (an
   * Envoy that restarts must not make the processor forget its pools), unless Envoy refused it.
   */
  private Names usable(Names all) {
    ProcessorState.Sent acknowledged = processor.acknowledged();
    Names named = acknowledged == null ? Names.NONE : acknowledged.names();
    Set<String> clusters = new HashSet<>();
    for (String cluster : all.clusters()) {
      boolean there = envoys.values().stream().allMatch(envoy -> envoy.hasCluster(cluster));
      if (there || (named.clusters().contains(cluster) && refusal(cluster) == null)) {
        clusters.add(cluster);
      }
    }
    List<Map<String, Set<String>>> addresses = new ArrayList<>();
    for (EnvoyView envoy : envoys.values()) {
      Map<String, Set<String>> byCluster = new HashMap<>();
      all.clusters().forEach(cluster -> byCluster.put(cluster, envoy.endpoints(cluster)));
      addresses.add(byCluster);
    }
    Set<Names.EndpointName> endpoints = new HashSet<>();
    for (Names.EndpointName endpoint : all.endpoints()) {
      boolean there =
          addresses.stream()
              .allMatch(byCluster ->
                  byCluster
                      .getOrDefault(endpoint.cluster(), Set.of())
                      .contains(endpoint.hostPort()));
      if (there || named.endpoints().contains(endpoint)) {
        endpoints.add(endpoint);
      }
    }
    return new Names(clusters, endpoints);
  }

  private @Nullable String refusal(String cluster) {
    for (EnvoyView envoy : envoys.values()) {
      String refusal = envoy.refusal(cluster);
      if (refusal != null) {
        return refusal;
      }
    }
    return null;
  }

  private static PoolCluster withHeld(PoolCluster before, PoolCluster now, Hold hold) {
    Set<String> present = new HashSet<>();
    now.endpoints().forEach(endpoint -> present.add(endpoint.hostPort()));
    List<Endpoint> endpoints = new ArrayList<>(now.endpoints());
    for (Endpoint endpoint : before.endpoints()) {
      if (!present.contains(endpoint.hostPort())
          && hold.endpoint(new Names.EndpointName(before.name(), endpoint.hostPort()))) {
        endpoints.add(endpoint.with(Endpoint.Health.DRAINING));
      }
    }
    return new PoolCluster(now.owner(), now.name(), endpoints);
  }

  private List<Secret> secrets(Iterable<ProviderCluster> providers) {
    Map<String, Secret> known = new TreeMap<>();
    target.secrets().forEach(secret -> known.put(secret.name(), secret));
    if (desired != null) {
      desired.model().secrets().forEach(secret -> known.put(secret.name(), secret));
    }
    Set<String> used = new HashSet<>();
    for (ProviderCluster provider : providers) {
      used.addAll(provider.secretNames());
    }
    known.keySet().retainAll(used);
    return List.copyOf(known.values());
  }

  private void wakeAt(long nanos) {
    wakeNanos = Math.min(wakeNanos, nanos);
  }

  /** What stays in Envoy although it is no longer desired. */
  private final class Hold {
    private final long nowNanos;
    private final Names named;
    private final boolean everything;
    private final Set<Object> asked = new HashSet<>();

    Hold(long nowNanos) {
      this.nowNanos = nowNanos;
      named = processor.names(nowNanos);
      everything = processor.mayNameAnything(nowNanos);
      if (everything) {
        wakeAt(processor.nextChangeNanos());
      }
    }

    boolean cluster(String name) {
      return holds(name, named.clusters().contains(name));
    }

    boolean endpoint(Names.EndpointName name) {
      return holds(name, named.endpoints().contains(name));
    }

    private boolean holds(Object name, boolean isNamed) {
      asked.add(name);
      if (isNamed || everything) {
        unnamedSince.remove(name);
        wakeAt(processor.nextChangeNanos());
        return true;
      }
      long until = unnamedSince.computeIfAbsent(name, n -> nowNanos) + times.linger().toNanos();
      if (nowNanos < until) {
        wakeAt(until);
        return true;
      }
      return false;
    }
  }
}
