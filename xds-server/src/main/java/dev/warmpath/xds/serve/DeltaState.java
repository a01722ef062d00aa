package dev.warmpath.xds.serve;

import dev.warmpath.xds.translate.EnvoyResources;
import dev.warmpath.xds.translate.XdsResource;
import dev.warmpath.xds.translate.XdsType;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryRequest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * One resource type on one delta stream: what Envoy asked for, has, was sent and has refused.
 *
 * <p>At most one response is on its way. What Envoy says it has from an earlier stream ({@code
 * initial_resource_versions}) is believed, names and versions: versions are content hashes, so an
 * equal version needs no resending, and a name that is no longer wanted is removed.
 *
 * <p>A refused response of several resources is taken apart until the bad one is alone: those that
 * Envoy's text names are tried one by one, the others together, or by halves if it names none. A
 * refused resource is not sent again until its content changes, and then alone.
 *
 * <p>Pure; the control thread owns it.
 */
final class DeltaState {
  private final XdsType type;
  private final Set<String> subscribed = new TreeSet<>();
  private final Map<String, Held> has = new HashMap<>();
  private final Map<String, Refusal> refused = new HashMap<>();

  /** Names that Envoy asked for and was told that there are none. */
  private final Set<String> toldAbsent = new HashSet<>();

  /** To be sent whatever Envoy has. */
  private final Set<String> forced = new HashSet<>();

  /** Sets of names that must not be sent together with others. */
  private final Deque<Set<String>> groups = new ArrayDeque<>();

  private @Nullable Response outstanding;
  private boolean wildcard;
  private boolean started;
  private boolean answered;

  /** What Envoy has under a name; {@code resource} is null for content of an earlier stream. */
  private record Held(String version, @Nullable XdsResource resource) {}

  record Refusal(String version, String reason) {}

  record Response(String nonce, List<XdsResource> resources, List<String> removed) {}

  /** What a request said about the response before it. */
  sealed interface Verdict {
    record None() implements Verdict {}

    record Acknowledged(Response response) implements Verdict {}

    /**
     * Refused.
     *
     * @param culprit the resource, if the response held no other
     */
    record Refused(Response response, String reason, @Nullable XdsResource culprit)
        implements Verdict {}
  }

  DeltaState(XdsType type) {
    this.type = type;
  }

  Verdict onRequest(DeltaDiscoveryRequest request) {
    boolean first = !started;
    if (first) {
      started = true;
      request
          .getInitialResourceVersionsMap()
          .forEach((name, version) -> has.put(name, new Held(version, null)));
      // An empty first subscription is the old way to ask for everything.
      wildcard = request.getResourceNamesSubscribeCount() == 0 && type == XdsType.CLUSTER;
    }
    for (String name : request.getResourceNamesSubscribeList()) {
      if (name.equals("*")) {
        wildcard = true;
        continue;
      }
      subscribed.add(name);
      toldAbsent.remove(name);
      // A client that asks again for what it has lost it.
      if (!first) {
        forced.add(name);
      }
    }
    for (String name : request.getResourceNamesUnsubscribeList()) {
      if (name.equals("*")) {
        wildcard = false;
        continue;
      }
      subscribed.remove(name);
      toldAbsent.remove(name);
      forced.remove(name);
      refused.remove(name);
      if (!wildcard) {
        has.remove(name);
      }
    }
    return verdict(request);
  }

  private Verdict verdict(DeltaDiscoveryRequest request) {
    Response response = outstanding;
    // An unknown nonce is of a response that nobody waits for any more.
    if (response == null || !response.nonce.equals(request.getResponseNonce())) {
      return new Verdict.None();
    }
    outstanding = null;
    if (!request.hasErrorDetail()) {
      for (XdsResource resource : response.resources) {
        if (wildcard || subscribed.contains(resource.name())) {
          has.put(resource.name(), new Held(resource.version(), resource));
        }
        refused.remove(resource.name());
      }
      response.removed.forEach(has::remove);
      return new Verdict.Acknowledged(response);
    }
    String reason = request.getErrorDetail().getMessage();
    if (response.resources.isEmpty()) {
      // Nobody can refuse a removal; do not say it for ever.
      response.removed.forEach(has::remove);
      return new Verdict.Refused(response, reason, null);
    }
    if (response.resources.size() == 1) {
      XdsResource culprit = response.resources.getFirst();
      refused.put(culprit.name(), new Refusal(culprit.version(), reason));
      return new Verdict.Refused(response, reason, culprit);
    }
    takeApart(response.resources, reason);
    return new Verdict.Refused(response, reason, null);
  }

  private void takeApart(List<XdsResource> resources, String reason) {
    Set<String> suspects = new TreeSet<>();
    Set<String> others = new TreeSet<>();
    for (XdsResource resource : resources) {
      (reason.contains(resource.name()) ? suspects : others).add(resource.name());
    }
    if (suspects.isEmpty()) {
      List<String> names = List.copyOf(others);
      groups.add(new TreeSet<>(names.subList(0, names.size() / 2)));
      groups.add(new TreeSet<>(names.subList(names.size() / 2, names.size())));
      return;
    }
    if (!others.isEmpty()) {
      groups.add(others);
    }
    suspects.forEach(name -> groups.add(Set.of(name)));
  }

  /** What to send now, if anything. The caller sends it; it is on its way from here on. */
  @Nullable Response next(EnvoyResources target, boolean keepUnknown, String nonce) {
    if (!started || outstanding != null) {
      return null;
    }
    Map<String, XdsResource> wanted = new java.util.TreeMap<>();
    for (XdsResource resource : target.of(type).values()) {
      if (isSubscribed(resource.name()) && needsSending(resource)) {
        wanted.put(resource.name(), resource);
      }
    }
    List<String> removed = removed(target, keepUnknown);
    List<XdsResource> resources = batch(wanted);
    boolean mustAnswer = wildcard && !answered;
    if (resources.isEmpty() && removed.isEmpty() && !mustAnswer) {
      return null;
    }
    answered = true;
    resources.forEach(resource -> forced.remove(resource.name()));
    outstanding = new Response(nonce, resources, removed);
    return outstanding;
  }

  private boolean needsSending(XdsResource resource) {
    Refusal refusal = refused.get(resource.name());
    if (refusal != null && refusal.version.equals(resource.version())) {
      return false;
    }
    if (forced.contains(resource.name())) {
      return true;
    }
    Held held = has.get(resource.name());
    if (held == null || !held.version.equals(resource.version())) {
      return true;
    }
    if (held.resource == null) {
      has.put(resource.name(), new Held(held.version, resource));
    }
    return false;
  }

  /** First what nobody suspects, in one response; then each group of suspects by itself. */
  private List<XdsResource> batch(Map<String, XdsResource> wanted) {
    Set<String> suspects = new HashSet<>(refused.keySet());
    groups.forEach(suspects::addAll);
    List<XdsResource> unsuspected = new ArrayList<>();
    wanted.forEach((name, resource) -> {
      if (!suspects.contains(name)) {
        unsuspected.add(resource);
      }
    });
    if (!unsuspected.isEmpty()) {
      // Envoy takes a secret that it has refused without a word when it comes again unchanged, so a
      // refusal must be right the first time.
      return type == XdsType.SECRET ? unsuspected.subList(0, 1) : unsuspected;
    }
    while (!groups.isEmpty()) {
      List<XdsResource> group = new ArrayList<>();
      for (String name : groups.removeFirst()) {
        XdsResource resource = wanted.get(name);
        if (resource != null) {
          group.add(resource);
        }
      }
      if (!group.isEmpty()) {
        return group;
      }
    }
    for (XdsResource resource : wanted.values()) {
      return List.of(resource);
    }
    return List.of();
  }

  private List<String> removed(EnvoyResources target, boolean keepUnknown) {
    List<String> removed = new ArrayList<>();
    if (!keepUnknown) {
      for (String name : has.keySet()) {
        if (target.get(type, name) == null) {
          removed.add(name);
        }
      }
    }
    for (String name : subscribed) {
      if (target.get(type, name) == null && !has.containsKey(name) && toldAbsent.add(name)) {
        removed.add(name);
      }
    }
    toldAbsent.removeIf(name -> target.get(type, name) != null);
    return removed;
  }

  private boolean isSubscribed(String name) {
    return wildcard || subscribed.contains(name);
  }

  /** Envoy warms a changed cluster and waits for these, though they did not change. */
  void resend(String name) {
    if (subscribed.contains(name)) {
      forced.add(name);
    }
  }

  boolean has(String name) {
    return has.containsKey(name);
  }

  boolean hasVersion(String name, String version) {
    Held held = has.get(name);
    return held != null && held.version.equals(version);
  }

  Set<String> endpoints(String name) {
    Held held = has.get(name);
    return held == null || held.resource == null ? Set.of() : held.resource.endpoints();
  }

  /** Why Envoy refused that version, or null. */
  @Nullable String refusal(String name, String version) {
    Refusal refusal = refused.get(name);
    return refusal != null && refusal.version.equals(version) ? refusal.reason : null;
  }

  Map<String, Refusal> refusals() {
    return refused;
  }
}
