package dev.warmpath.xds.kubernetes;

import dev.warmpath.crds.resource.Kind;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.xds.source.NanoClock;
import dev.warmpath.xds.status.Standing;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the replicas of the control plane tell each other: each keeps a Lease of its own, with the
 * standing of its gateways as an annotation, so that the one that writes status counts all
 * gateways. A replica that has not renewed its Lease for {@link #LIFE} is gone.
 *
 * <p>Not thread-safe: one thread calls it.
 */
final class Replicas {
  private static final Logger log = LoggerFactory.getLogger(Replicas.class);

  static final String LABEL = "inference.warmpath.dev/replica-of";
  static final String ANNOTATION = "inference.warmpath.dev/gateways";

  private static final Duration LIFE = Duration.ofSeconds(30);
  private static final Duration RENEWAL = Duration.ofSeconds(10);

  /** A failed write is not tried again before that. */
  private static final Duration RETRY = Duration.ofSeconds(2);

  /** All annotations of an object together may have 256 KB. */
  private static final int MAX_LACKING = 500;

  private static final int MAX_REFUSALS = 50;
  private static final int MAX_WORDS = 1000;
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private record Sighting(String resourceVersion, long sinceNanos) {}

  private final KubernetesClient client;
  private final Replica self;
  private final NanoClock clock;
  private final InstantSource time;
  private final SharedIndexInformer<Lease> leases;
  private final Map<String, Sighting> sightings = new HashMap<>();
  private @Nullable String told;
  private long toldNanos;

  Replicas(KubernetesClient client, Replica self, NanoClock clock, InstantSource time) {
    this.client = client;
    this.self = self;
    this.clock = clock;
    this.time = time;
    leases =
        client
            .leases()
            .inNamespace(self.namespace())
            .withLabel(LABEL, self.lease())
            .runnableInformer(0);
    leases.exceptionHandler((started, failure) -> true);
    var _ = leases.start();
  }

  /** Tells the others, if there is news or the Lease is to be renewed. */
  void tell(List<Standing> gateways) {
    String text = write(gateways);
    long now = clock.nanoTime();
    boolean isNews = !text.equals(told);
    if (!isNews && now - toldNanos < RENEWAL.toNanos()) {
      return;
    }
    if (told == null && toldNanos != 0 && now - toldNanos < RETRY.toNanos()) {
      return;
    }
    toldNanos = now;
    Lease lease =
        new LeaseBuilder()
            .withNewMetadata()
            .withName(name())
            .withNamespace(self.namespace())
            .addToLabels(LABEL, self.lease())
            .addToAnnotations(ANNOTATION, text)
            .endMetadata()
            .withNewSpec()
            .withHolderIdentity(self.identity())
            .withLeaseDurationSeconds((int) LIFE.toSeconds())
            .withRenewTime(time.instant().atZone(ZoneOffset.UTC))
            .endSpec()
            .build();
    try {
      client
          .resource(lease)
          .fieldManager(KubernetesStatus.MANAGER)
          .forceConflicts()
          .serverSideApply();
      told = text;
    } catch (KubernetesClientException e) {
      told = null;
      log.warn("the other replicas can't be told of this one's gateways: {}", e.getMessage());
    }
  }

  /** The gateways of the other replicas that are alive. */
  List<Standing> others() {
    long now = clock.nanoTime();
    List<Standing> standings = new ArrayList<>();
    Set<String> present = new HashSet<>();
    for (Lease lease : leases.getStore().list()) {
      String other = lease.getMetadata().getName();
      if (other.equals(name())) {
        continue;
      }
      present.add(other);
      // Its age by our own clock: clocks of machines differ.
      String version = lease.getMetadata().getResourceVersion();
      Sighting sighting = sightings.get(other);
      if (sighting == null || !sighting.resourceVersion().equals(version)) {
        sighting = new Sighting(version, now);
        sightings.put(other, sighting);
      }
      if (now - sighting.sinceNanos() < LIFE.toNanos()) {
        standings.addAll(read(lease.getMetadata().getAnnotations()));
      }
    }
    sightings.keySet().retainAll(present);
    return standings;
  }

  /** Removes the Leases of replicas that are gone. The status writer does it. */
  void removeDead() {
    long now = clock.nanoTime();
    sightings.forEach((name, sighting) -> {
      if (now - sighting.sinceNanos() > 2 * LIFE.toNanos()) {
        client.leases().inNamespace(self.namespace()).withName(name).delete();
      }
    });
  }

  /** Says that this replica is gone. */
  void leave() {
    leases.stop();
    if (told != null) {
      client.leases().inNamespace(self.namespace()).withName(name()).delete();
    }
  }

  private String name() {
    return self.lease() + "-" + self.identity();
  }

  static String write(List<Standing> gateways) {
    List<Map<String, Object>> list = new ArrayList<>();
    int room = MAX_LACKING;
    for (Standing gateway : gateways) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("gateway", gateway.gateway());
      if (gateway.lacksAll() || gateway.lacking().size() > room) {
        one.put("lacksAll", true);
      } else {
        room -= gateway.lacking().size();
        one.put("lacking", gateway.lacking().stream().map(Replicas::text).sorted().toList());
      }
      Map<String, String> refused = new java.util.TreeMap<>();
      gateway
          .refusals()
          .forEach((key, words) -> {
            if (refused.size() < MAX_REFUSALS) {
              refused.put(text(key), words.substring(0, Math.min(MAX_WORDS, words.length())));
            }
          });
      one.put("refused", refused);
      list.add(one);
    }
    return JSON.writeValueAsString(list);
  }

  static List<Standing> read(@Nullable Map<String, String> annotations) {
    String text = annotations == null ? null : annotations.get(ANNOTATION);
    if (text == null) {
      return List.of();
    }
    try {
      List<Standing> standings = new ArrayList<>();
      JSON.readTree(text)
          .forEach(entry -> {
            Set<Resource.Key> lacking = new HashSet<>();
            entry.path("lacking").forEach(key -> addKey(lacking, key.asString()));
            Map<Resource.Key, String> refused = new HashMap<>();
            entry
                .path("refused")
                .properties()
                .forEach(field -> {
                  Resource.Key key = key(field.getKey());
                  if (key != null) {
                    refused.put(key, field.getValue().asString());
                  }
                });
            standings.add(
                new Standing(
                    entry.path("gateway").asString(),
                    entry.path("lacksAll").asBoolean(false),
                    lacking,
                    refused));
          });
      return standings;
    } catch (JacksonException e) {
      log.warn("another replica says what this one can't read: {}", e.getOriginalMessage());
      return List.of();
    }
  }

  private static void addKey(Set<Resource.Key> keys, String text) {
    Resource.Key key = key(text);
    if (key != null) {
      keys.add(key);
    }
  }

  private static String text(Resource.Key key) {
    return key.kind().kindName() + "/" + key.namespace() + "/" + key.name();
  }

  private static Resource.@Nullable Key key(String text) {
    String[] parts = text.split("/", -1);
    Kind kind = parts.length == 3 ? Kind.ofName(parts[0]) : null;
    return kind == null ? null : new Resource.Key(kind, parts[1], parts[2]);
  }
}
