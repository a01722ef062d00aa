package dev.warmpath.xds.kubernetes;

import dev.warmpath.crds.config.RoutingConfiguration.Worker;
import dev.warmpath.crds.resource.Kind;
import dev.warmpath.crds.resource.ParsedResources;
import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.RejectedResource;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.resource.ResourceParser;
import dev.warmpath.crds.resource.ResourceSet;
import dev.warmpath.crds.v1alpha1.ProviderSpec;
import dev.warmpath.crds.v1alpha1.TenantSpec;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import dev.warmpath.xds.source.HostResolver;
import dev.warmpath.xds.source.NanoClock;
import dev.warmpath.xds.source.ResourceSource;
import dev.warmpath.xds.source.Secrets;
import dev.warmpath.xds.source.SourceSnapshot;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.Informable;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The six kinds of one namespace of an API server, and what they refer to: Pods by selector,
 * EndpointSlices by Service, Secrets one by one by name (no right to list Secrets is needed).
 *
 * <p>Any event of any informer schedules one look at all stores, {@link #DEBOUNCE} later. The
 * informers re-list by themselves after a lost watch.
 */
public final class KubernetesSource implements ResourceSource {
  private static final Logger log = LoggerFactory.getLogger(KubernetesSource.class);

  static final Duration DEBOUNCE = Duration.ofMillis(75);

  /** A store that is not filled yet is looked at again after this. */
  private static final Duration SYNC_POLL = Duration.ofMillis(100);

  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** The selector that selects every Pod of the namespace. */
  private static final Map<String, String> ALL_PODS = Map.of();

  private final KubernetesClient client;
  private final String namespace;
  private final ResourceParser parser = new ResourceParser();
  private final ScheduledExecutorService executor =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("kubernetes-source").daemon().factory());
  private final AtomicBoolean scheduled = new AtomicBoolean();

  /** The same as {@link #kinds}, for readers on other threads. */
  private volatile Map<Kind, SharedIndexInformer<GenericKubernetesResource>> objects = Map.of();

  // Owned by the executor's thread.
  private final Map<String, Parsed> parsed = new HashMap<>();
  private final Map<Kind, SharedIndexInformer<GenericKubernetesResource>> kinds =
      new EnumMap<>(Kind.class);
  private final Map<Map<String, String>, SharedIndexInformer<Pod>> pods = new HashMap<>();
  private final Map<String, SharedIndexInformer<EndpointSlice>> slices = new HashMap<>();
  private final Map<String, SharedIndexInformer<Secret>> secrets = new HashMap<>();
  private final HostResolver hosts = HostResolver.system(NanoClock.system());
  private final NanoClock clock = NanoClock.system();
  private long followedSinceNanos;

  private @Nullable Consumer<SourceSnapshot> listener;
  private @Nullable SourceSnapshot last;

  /** What was made of one version of an object's spec. */
  private record Parsed(long generation, ParsedResources resources) {}

  /** The client is closed with the source. */
  public KubernetesSource(KubernetesClient client, String namespace) {
    this.client = client;
    this.namespace = namespace;
  }

  /** The API server that the environment names. */
  public static KubernetesSource ofEnvironment(String namespace) {
    Config config = Config.autoConfigure(null);
    // The pause before a lost watch is tried again doubles up to 32 times this, and a watch that
    // must list anew (410 Gone) takes two of them. With the default of 1 s, changes would stay
    // unseen for a minute after the API server's return.
    config.setWatchReconnectInterval(100);
    // A write is tried again by whoever wanted it, with what is right by then.
    config.setRequestRetryBackoffLimit(1);
    return new KubernetesSource(
        new KubernetesClientBuilder().withConfig(config).build(), namespace);
  }

  @Override
  public void start(Consumer<SourceSnapshot> newListener) {
    executor.execute(() -> {
      listener = newListener;
      for (Kind kind : Kind.values()) {
        kinds.put(
            kind, watch(client.genericKubernetesResources(context(kind)).inNamespace(namespace)));
      }
      objects = Map.copyOf(kinds);
      schedule(Duration.ZERO);
    });
  }

  static ResourceDefinitionContext context(Kind kind) {
    return new ResourceDefinitionContext.Builder()
        .withGroup(Kind.GROUP)
        .withVersion(Kind.VERSION)
        .withKind(kind.kindName())
        .withPlural(kind.plural())
        .withNamespaced(true)
        .build();
  }

  /** The object as it was seen last, or null. From any thread. */
  @Nullable GenericKubernetesResource object(Kind kind, String name) {
    SharedIndexInformer<GenericKubernetesResource> informer = objects.get(kind);
    return informer == null
        ? null
        : informer.getStore().getByKey(Cache.namespaceKeyFunc(namespace, name));
  }

  KubernetesClient client() {
    return client;
  }

  String namespace() {
    return namespace;
  }

  @Override
  public void close() {
    executor.shutdownNow();
    try {
      if (!executor.awaitTermination(5, TimeUnit.SECONDS)) {
        log.warn("the source did not end in time");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    List<Map<?, ? extends SharedIndexInformer<?>>> all = List.of(kinds, pods, slices, secrets);
    all.forEach(informers -> informers.values().forEach(SharedIndexInformer::stop));
    client.close();
  }

  private <T extends HasMetadata> SharedIndexInformer<T> watch(Informable<T> what) {
    SharedIndexInformer<T> informer = what.runnableInformer(0);
    // An API server that is away, now or later, is tried again; only close() ends an informer.
    informer.exceptionHandler((started, failure) -> true);
    informer.addEventHandler(
        new ResourceEventHandler<>() {
          @Override
          public void onAdd(T added) {
            schedule(DEBOUNCE);
          }

          @Override
          public void onUpdate(T before, T after) {
            if (!isOwnStatus(before, after)) {
              schedule(DEBOUNCE);
            }
          }

          @Override
          public void onDelete(T deleted, boolean finalStateUnknown) {
            schedule(DEBOUNCE);
          }
        });
    var _ = informer.start();
    return informer;
  }

  /** Whether no more than the status of one of the six kinds can have changed. */
  private static boolean isOwnStatus(HasMetadata before, HasMetadata after) {
    return after instanceof GenericKubernetesResource
        && before.getMetadata().getGeneration() != null
        && before.getMetadata().getGeneration().equals(after.getMetadata().getGeneration())
        && before.getMetadata().getUid().equals(after.getMetadata().getUid());
  }

  private void schedule(Duration delay) {
    if (scheduled.compareAndSet(false, true)) {
      try {
        var _ = executor.schedule(this::look, delay.toNanos(), TimeUnit.NANOSECONDS);
      } catch (java.util.concurrent.RejectedExecutionException e) {
        log.debug("an event came after the end", e);
      }
    }
  }

  private void look() {
    scheduled.set(false);
    try {
      if (!areSynced(kinds.values())) {
        schedule(SYNC_POLL);
        return;
      }
      Contents contents = read();
      if (follow(contents.resources)) {
        SourceSnapshot snapshot = snapshot(contents);
        if (!snapshot.equals(last) && listener != null) {
          last = snapshot;
          listener.accept(snapshot);
        }
      } else {
        schedule(SYNC_POLL);
      }
    } catch (RuntimeException e) {
      log.error("reading the API server's objects failed; trying again", e);
      schedule(Duration.ofSeconds(1));
    }
  }

  private record Contents(
      ResourceSet resources, List<RejectedResource> rejected, List<Problem> problems) {}

  private Contents read() {
    List<Resource<?>> resources = new ArrayList<>();
    List<RejectedResource> rejected = new ArrayList<>();
    List<Problem> problems = new ArrayList<>();
    Set<String> present = new HashSet<>();
    for (SharedIndexInformer<GenericKubernetesResource> informer : kinds.values()) {
      for (GenericKubernetesResource object : informer.getStore().list()) {
        present.add(object.getMetadata().getUid());
        ParsedResources read = parse(object);
        resources.addAll(read.resources().all());
        rejected.addAll(read.rejected());
        problems.addAll(read.problems());
      }
    }
    parsed.keySet().retainAll(present);
    return new Contents(ResourceSet.of(resources), rejected, problems);
  }

  /** An object's spec is read once for each of its generations. */
  private ParsedResources parse(GenericKubernetesResource object) {
    String uid = object.getMetadata().getUid();
    Long generation = object.getMetadata().getGeneration();
    Parsed known = parsed.get(uid);
    if (known != null && generation != null && known.generation() == generation) {
      return known.resources();
    }
    @SuppressWarnings("unchecked") // JSON objects have text keys
    Map<String, ?> map = client.getKubernetesSerialization().convertValue(object, Map.class);
    ParsedResources read = parser.parseObject(map);
    parsed.put(uid, new Parsed(generation == null ? 0 : generation, read));
    return read;
  }

  /** Watches what the resources refer to, and nothing else; whether all of it has been read. */
  private boolean follow(ResourceSet resources) {
    Set<Map<String, String>> selectors = new HashSet<>();
    Set<String> services = new HashSet<>();
    for (Resource<WorkerSetSpec> set : resources.workerSets()) {
      WorkerSetSpec.Workers workers = set.spec().workers();
      if (workers.podSelector() != null) {
        selectors.add(workers.podSelector().matchLabels());
      } else if (workers.service() != null) {
        services.add(workers.service().name());
        // A slice names its Pods but holds neither their restarts nor their annotations.
        selectors.add(ALL_PODS);
      }
    }
    adjust(
        pods, selectors, labels -> watch(client.pods().inNamespace(namespace).withLabels(labels)));
    adjust(
        slices,
        services,
        service ->
            watch(
                client
                    .discovery()
                    .v1()
                    .endpointSlices()
                    .inNamespace(namespace)
                    .withLabel("kubernetes.io/service-name", service)));
    adjust(
        secrets,
        secretNames(resources),
        name -> watch(client.secrets().inNamespace(namespace).withName(name)));
    boolean all =
        areSynced(pods.values()) && areSynced(slices.values()) && areSynced(secrets.values());
    if (!all && clock.nanoTime() - followedSinceNanos > PATIENCE.toNanos()) {
      // One Secret that may not be read must not keep everything else from being served.
      log.warn("some Pods, EndpointSlices or Secrets can't be read; going on without them");
      return true;
    }
    return all;
  }

  private <K, T> void adjust(
      Map<K, SharedIndexInformer<T>> informers,
      Set<K> wanted,
      java.util.function.Function<K, SharedIndexInformer<T>> start) {
    informers
        .entrySet()
        .removeIf(entry -> {
          if (wanted.contains(entry.getKey())) {
            return false;
          }
          entry.getValue().stop();
          return true;
        });
    for (K key : wanted) {
      if (!informers.containsKey(key)) {
        informers.put(key, start.apply(key));
        followedSinceNanos = clock.nanoTime();
      }
    }
  }

  private static Set<String> secretNames(ResourceSet resources) {
    Set<String> names = new HashSet<>();
    for (Resource<ProviderSpec> provider : resources.providers()) {
      ProviderSpec.Credentials credentials = provider.spec().credentials();
      if (credentials != null && credentials.apiKey() != null) {
        names.add(credentials.apiKey().secret().name());
      }
      if (credentials != null && credentials.secret() != null) {
        names.add(credentials.secret().name());
      }
      if (provider.spec().tls() != null) {
        names.add(provider.spec().tls().caBundle().secret().name());
      }
    }
    for (Resource<TenantSpec> tenant : resources.tenants()) {
      tenant.spec().apiKeys().forEach(key -> names.add(key.secret().name()));
    }
    return names;
  }

  private static boolean areSynced(Collection<? extends SharedIndexInformer<?>> informers) {
    return informers.stream().allMatch(SharedIndexInformer::hasSynced);
  }

  private SourceSnapshot snapshot(Contents contents) {
    Map<Resource.Key, List<Worker>> workers = new HashMap<>();
    for (Resource<WorkerSetSpec> set : contents.resources.workerSets()) {
      workers.put(set.key(), workers(set.spec().workers()));
    }
    Map<Secrets.Entry, String> values = new HashMap<>();
    for (SharedIndexInformer<Secret> informer : secrets.values()) {
      for (Secret secret : informer.getStore().list()) {
        if (secret.getData() == null) {
          continue;
        }
        secret
            .getData()
            .forEach((key, data) ->
                values.put(
                    new Secrets.Entry(namespace, secret.getMetadata().getName(), key),
                    new String(Base64.getDecoder().decode(data), StandardCharsets.UTF_8)));
      }
    }
    return new SourceSnapshot(
        contents.resources, contents.rejected, workers, new Secrets(values), contents.problems);
  }

  private List<Worker> workers(WorkerSetSpec.Workers where) {
    if (where.podSelector() != null) {
      SharedIndexInformer<Pod> informer = pods.get(where.podSelector().matchLabels());
      return informer == null
          ? List.of()
          : KubernetesWorkers.ofPods(informer.getStore().list(), where.podSelector().port());
    }
    if (where.service() != null) {
      SharedIndexInformer<EndpointSlice> informer = slices.get(where.service().name());
      return informer == null
          ? List.of()
          : KubernetesWorkers.ofSlices(
              informer.getStore().list(),
              where.service().port(),
              name -> {
                SharedIndexInformer<Pod> all = pods.get(ALL_PODS);
                return all == null
                    ? null
                    : all.getStore().getByKey(Cache.namespaceKeyFunc(namespace, name));
              });
    }
    List<Worker> workers = new ArrayList<>();
    if (where.addresses() != null) {
      for (WorkerSetSpec.Address address : where.addresses()) {
        String ip = hosts.resolve(address.address());
        if (ip != null) {
          workers.add(new Worker(address.name(), ip, address.port(), "", Worker.State.READY));
        }
      }
    }
    return workers;
  }
}
