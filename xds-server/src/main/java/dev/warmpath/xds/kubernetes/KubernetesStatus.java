package dev.warmpath.xds.kubernetes;

import dev.warmpath.crds.resource.Kind;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.v1alpha1.StatusCondition;
import dev.warmpath.xds.source.NanoClock;
import dev.warmpath.xds.status.ResourceStatus;
import dev.warmpath.xds.status.ResourceStatus.Value;
import dev.warmpath.xds.status.StatusReport;
import dev.warmpath.xds.status.StatusView;
import dev.warmpath.xds.telemetry.XdsMetrics;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the status of the six kinds and the Events beside it, as long as this replica is the
 * leader.
 *
 * <p>It looks {@link #PERIOD by period}, so that a change that is over in between is never written,
 * and writes what differs from what the API server has: no more than {@link #MAX_WRITES} a look,
 * what is wrong first, and one resource's counts no more than once in {@link #COUNTS_PERIOD}. An
 * Event is made with the write of the condition that it is about, so a new leader repeats none.
 */
public final class KubernetesStatus implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(KubernetesStatus.class);

  /** Owner of the fields, for server-side apply, and reporter of Events. */
  static final String MANAGER = "warmpath-xds-server";

  static final Duration PERIOD = Duration.ofMillis(250);
  static final int MAX_WRITES = 25;

  /** An acknowledgement that comes in this time is not announced as outstanding before. */
  private static final Duration PENDING_PATIENCE = Duration.ofSeconds(1);

  private static final Duration COUNTS_PERIOD = Duration.ofSeconds(1);

  /** So long the informer may lag behind our own write. */
  private static final Duration ECHO_PATIENCE = Duration.ofSeconds(5);

  private static final Duration FIRST_BACKOFF = Duration.ofMillis(500);
  private static final Duration LAST_BACKOFF = Duration.ofSeconds(4);
  private static final Duration REMOVAL_PERIOD = Duration.ofMinutes(1);
  private static final int MAX_EVENT_MESSAGE = 1024;

  private static final PatchContext APPLY =
      new PatchContext.Builder()
          .withPatchType(PatchType.SERVER_SIDE_APPLY)
          .withFieldManager(MANAGER)
          .withForce(true)
          .build();

  private record Written(Map<String, Object> status, long atNanos) {}

  private record Change(
      ResourceStatus status,
      GenericKubernetesResource object,
      Map<String, Object> document,
      List<Notice> notices) {
    boolean isBad() {
      return status.conditions().stream().anyMatch(c -> c.status() == Value.False);
    }
  }

  private final KubernetesClient client;
  private final String namespace;
  private final Supplier<@Nullable StatusView> view;
  private final BiFunction<Kind, String, @Nullable GenericKubernetesResource> objects;
  private final XdsMetrics metrics;
  private final NanoClock clock;
  private final InstantSource time;
  private final ScheduledExecutorService executor =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("kubernetes-status").daemon().factory());
  private final Leadership leadership;
  private final Replicas replicas;

  // Owned by the executor's thread.
  private final Map<Resource.Key, Written> written = new HashMap<>();
  private final Map<Resource.Key, Long> pendingSince = new HashMap<>();
  private final Map<Resource.Key, Long> countedAt = new HashMap<>();
  private long restUntilNanos;
  private Duration backoff = FIRST_BACKOFF;
  private long removedAtNanos;

  /** Writes for the objects of that source. */
  public static KubernetesStatus start(
      KubernetesSource source,
      Replica replica,
      Supplier<@Nullable StatusView> view,
      XdsMetrics metrics) {
    return new KubernetesStatus(
        source.client(),
        source.namespace(),
        replica,
        Leadership.Times.defaults(),
        view,
        source::object,
        metrics,
        NanoClock.system(),
        InstantSource.system());
  }

  /**
   * Begins.
   *
   * @param view what this replica knows, or null while it knows nothing
   * @param objects the API server's objects as they were seen last, by kind and name
   */
  KubernetesStatus(
      KubernetesClient client,
      String namespace,
      Replica replica,
      Leadership.Times times,
      Supplier<@Nullable StatusView> view,
      BiFunction<Kind, String, @Nullable GenericKubernetesResource> objects,
      XdsMetrics metrics,
      NanoClock clock,
      InstantSource time) {
    this.client = client;
    this.namespace = namespace;
    this.view = view;
    this.objects = objects;
    this.metrics = metrics;
    this.clock = clock;
    this.time = time;
    restUntilNanos = clock.nanoTime();
    removedAtNanos = clock.nanoTime();
    leadership = new Leadership(client, replica, times, executor);
    replicas = new Replicas(client, replica, clock, time);
    metrics.gauge(
        "warmpath.xds.leader",
        "1 while this replica writes status",
        () -> leadership.isLeader() ? 1 : 0);
    executor.execute(leadership::start);
    var _ =
        executor.scheduleWithFixedDelay(
            this::look, PERIOD.toMillis(), PERIOD.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void look() {
    try {
      StatusView now = view.get();
      if (now == null) {
        return;
      }
      replicas.tell(now.gateways());
      if (!leadership.isLeader()) {
        written.clear();
        pendingSince.clear();
        return;
      }
      if (clock.nanoTime() - restUntilNanos < 0) {
        return;
      }
      write(changes(now.report(replicas.others())));
      removeDeadReplicas();
    } catch (RuntimeException e) {
      log.error("writing status failed; trying again", e);
      rest();
    }
  }

  private List<Change> changes(List<ResourceStatus> report) {
    List<Change> changes = new ArrayList<>();
    Set<Resource.Key> present = new HashSet<>();
    Instant now = time.instant();
    for (ResourceStatus status : report) {
      present.add(status.key());
      GenericKubernetesResource object = objects.apply(status.key().kind(), status.key().name());
      // Of a version that we have not planned yet nothing is known.
      if (object == null || generation(object) != status.generation()) {
        continue;
      }
      Map<String, Object> before = current(status.key(), object);
      Map<String, Object> after = StatusDocument.of(status, before, now);
      if (StatusDocument.isSame(after, before)) {
        pendingSince.remove(status.key());
      } else if (isDue(status, before)) {
        changes.add(
            new Change(
                status, object, after, Notice.of(StatusDocument.conditions(before), status)));
      }
    }
    written.keySet().retainAll(present);
    pendingSince.keySet().retainAll(present);
    countedAt.keySet().retainAll(present);
    return changes;
  }

  /** The status that the object has, or that we have given it and that hasn't come back yet. */
  private Map<String, Object> current(Resource.Key key, GenericKubernetesResource object) {
    Map<String, Object> seen = new HashMap<>();
    if (object.getAdditionalProperties().get("status") instanceof Map<?, ?> status) {
      status.forEach((name, value) -> {
        if (value != null) {
          seen.put(String.valueOf(name), value);
        }
      });
    }
    Written ours = written.get(key);
    if (ours == null) {
      return seen;
    }
    if (StatusDocument.isSame(ours.status(), seen)
        || clock.nanoTime() - ours.atNanos() > ECHO_PATIENCE.toNanos()) {
      written.remove(key);
      return seen;
    }
    return ours.status();
  }

  private boolean isDue(ResourceStatus status, Map<String, Object> before) {
    long now = clock.nanoTime();
    if (status.condition(StatusReport.PROGRAMMED).reason().equals(StatusReport.PENDING)) {
      long since = pendingSince.computeIfAbsent(status.key(), key -> now);
      if (now - since < PENDING_PATIENCE.toNanos()) {
        return false;
      }
    } else {
      pendingSince.remove(status.key());
    }
    Long counted = countedAt.get(status.key());
    return counted == null
        || now - counted >= COUNTS_PERIOD.toNanos()
        || !judgement(status).equals(judgement(StatusDocument.conditions(before)));
  }

  private static List<String> judgement(ResourceStatus status) {
    return status.conditions().stream()
        .map(c -> c.type() + c.status() + c.reason() + status.generation())
        .toList();
  }

  private static List<String> judgement(List<StatusCondition> conditions) {
    return conditions.stream()
        .map(c -> c.type() + c.status() + c.reason() + c.observedGeneration())
        .toList();
  }

  private void write(List<Change> changes) {
    List<Change> urgentFirst =
        changes.stream()
            .sorted(Comparator.comparing(change -> !change.isBad()))
            .limit(MAX_WRITES)
            .toList();
    for (Change change : urgentFirst) {
      if (!leadership.isLeader() || !write(change)) {
        return;
      }
    }
  }

  /** False when there is no point in going on now. */
  private boolean write(Change change) {
    Resource.Key key = change.status().key();
    GenericKubernetesResource object = new GenericKubernetesResource();
    object.setApiVersion(Kind.GROUP + "/" + Kind.VERSION);
    object.setKind(key.kind().kindName());
    object.setMetadata(
        new ObjectMetaBuilder()
            .withName(key.name())
            .withNamespace(namespace)
            // Not the object of the same name that may have taken its place.
            .withUid(change.object().getMetadata().getUid())
            .build());
    object.setAdditionalProperty("status", change.document());
    try {
      var _ =
          client
              .genericKubernetesResources(KubernetesSource.context(key.kind()))
              .inNamespace(namespace)
              .withName(key.name())
              .subresource("status")
              .patch(APPLY, object);
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND
          || e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
        return true;
      }
      metrics.statusWritten("failed");
      log.warn("the status of {} can't be written: {}", key, e.getMessage());
      rest();
      return false;
    }
    metrics.statusWritten("written");
    backoff = FIRST_BACKOFF;
    written.put(key, new Written(change.document(), clock.nanoTime()));
    countedAt.put(key, clock.nanoTime());
    change.notices().forEach(notice -> tell(change.object(), key, notice));
    return true;
  }

  private void rest() {
    restUntilNanos = clock.nanoTime() + backoff.toNanos();
    Duration twice = backoff.multipliedBy(2);
    backoff = twice.compareTo(LAST_BACKOFF) < 0 ? twice : LAST_BACKOFF;
  }

  private void tell(GenericKubernetesResource object, Resource.Key key, Notice notice) {
    String now = time.instant().truncatedTo(ChronoUnit.SECONDS).toString();
    String message = notice.message().isEmpty() ? notice.reason() : notice.message();
    try {
      client
          .v1()
          .events()
          .inNamespace(namespace)
          .resource(
              new EventBuilder()
                  .withNewMetadata()
                  .withGenerateName(key.name() + ".")
                  .withNamespace(namespace)
                  .endMetadata()
                  .withNewInvolvedObject()
                  .withApiVersion(object.getApiVersion())
                  .withKind(key.kind().kindName())
                  .withNamespace(namespace)
                  .withName(key.name())
                  .withUid(object.getMetadata().getUid())
                  .endInvolvedObject()
                  .withType(notice.isWarning() ? "Warning" : "Normal")
                  .withReason(notice.reason())
                  .withMessage(
                      message.length() <= MAX_EVENT_MESSAGE
                          ? message
                          : message.substring(0, MAX_EVENT_MESSAGE - 1) + "…")
                  .withFirstTimestamp(now)
                  .withLastTimestamp(now)
                  .withCount(1)
                  .withNewSource()
                  .withComponent(MANAGER)
                  .endSource()
                  .build())
          .create();
    } catch (KubernetesClientException e) {
      log.warn("no Event could be made of {}: {}", key, e.getMessage());
    }
  }

  private void removeDeadReplicas() {
    long now = clock.nanoTime();
    if (now - removedAtNanos > REMOVAL_PERIOD.toNanos()) {
      removedAtNanos = now;
      replicas.removeDead();
    }
  }

  private static long generation(GenericKubernetesResource object) {
    Long generation = object.getMetadata().getGeneration();
    return generation == null ? 0 : generation;
  }

  @Override
  public void close() {
    leadership.close();
    executor.shutdownNow();
    try {
      if (!executor.awaitTermination(5, TimeUnit.SECONDS)) {
        log.warn("the status writer did not end in time");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    try {
      replicas.leave();
    } catch (KubernetesClientException e) {
      log.debug("the API server is away; the Lease runs out by itself", e);
    }
  }
}
