package dev.warmpath.extproc.kvevents;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.extproc.candidate.WorkerId;
import dev.warmpath.extproc.kvcache.EventSink;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.zeromq.ZMQ;

/**
 * Follows the cache events of all configured workers that publish them, each on its own thread.
 * Thread-safe.
 */
public final class KvEventSubscriber implements AutoCloseable {
  private final ZMQ.Context context = ZMQ.context(1);
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(1))
          .build();
  private final EventSink sink;
  private final EventCounts counts;
  private final LongSupplier nanoClock;
  private final Map<WorkerId, Subscription> subscriptions = new HashMap<>();

  /**
   * @param sink called on the threads of this class
   * @param nanoClock intervals only
   */
  public KvEventSubscriber(EventSink sink, EventCounts counts, LongSupplier nanoClock) {
    this.sink = sink;
    this.counts = counts;
    this.nanoClock = nanoClock;
  }

  /** Follows the workers of that configuration from now on; call after the sink knows them. */
  public void configure(RoutingConfiguration configuration) {
    synchronized (subscriptions) {
      Map<WorkerId, EventSource.Target> wanted = new HashMap<>();
      EventSource.Target.of(configuration).forEach(target -> wanted.put(target.worker(), target));
      subscriptions
          .entrySet()
          .removeIf(entry -> {
            if (entry.getValue().target().equals(wanted.get(entry.getKey()))) {
              return false;
            }
            entry.getValue().stop();
            sink.live(entry.getKey(), false, "events are not configured");
            return true;
          });
      wanted.forEach(
          (worker, target) -> subscriptions.computeIfAbsent(worker, any -> start(target)));
    }
  }

  private Subscription start(EventSource.Target target) {
    Subscription subscription = new Subscription(target, context, http, sink, counts, nanoClock);
    Thread.ofPlatform().daemon().name("kv-events " + target.worker().name()).start(subscription);
    return subscription;
  }

  /** That worker seems to have been restarted: its streams are checked at once. */
  public void doubt(WorkerId worker) {
    synchronized (subscriptions) {
      Subscription subscription = subscriptions.get(worker);
      if (subscription != null) {
        subscription.doubt();
      }
    }
  }

  @Override
  public void close() {
    List<Subscription> all;
    synchronized (subscriptions) {
      all = new ArrayList<>(subscriptions.values());
      subscriptions.clear();
    }
    all.forEach(Subscription::stop);
    http.shutdownNow();
    try {
      for (Subscription subscription : all) {
        subscription.await();
      }
      context.term();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // its threads are daemons
    }
  }
}
