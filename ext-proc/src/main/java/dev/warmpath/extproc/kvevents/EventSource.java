package dev.warmpath.extproc.kvevents;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import dev.warmpath.extproc.candidate.WorkerId;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Where one rank publishes.
 *
 * @param replay null where lost batches cannot be asked for
 */
record EventSource(String live, @Nullable String replay) {
  private static final Duration TIMEOUT = Duration.ofSeconds(2);

  /** A worker that publishes events, as configured. */
  record Target(WorkerId worker, String host, int port, WorkerSetSpec.KvEvents events) {
    /** Every worker of a configuration that publishes events. */
    static List<Target> of(RoutingConfiguration configuration) {
      List<Target> targets = new ArrayList<>();
      for (RoutingConfiguration.WorkerSet set : configuration.workerSets()) {
        if (set.kvEvents().mode() != WorkerSetSpec.KvEvents.Mode.ZMQ) {
          continue;
        }
        for (RoutingConfiguration.Worker worker : set.workers()) {
          String host =
              worker.address().indexOf(':') < 0 ? worker.address() : "[" + worker.address() + "]";
          targets.add(
              new Target(
                  new WorkerId(
                      set.id().namespace(), set.id().name(), worker.name(), worker.epoch()),
                  host,
                  worker.port(),
                  set.kvEvents()));
        }
      }
      return targets;
    }
  }

  /**
   * The publishers of a worker, one for each rank: as it lists them itself where it does (needed
   * where the system chose the ports), else as configured, a port up for each rank.
   */
  static List<EventSource> find(HttpClient http, Target target) throws InterruptedException {
    URI page = URI.create("http://" + target.host() + ":" + target.port() + "/kv_event_sources");
    try {
      HttpResponse<String> response =
          http.send(
              HttpRequest.newBuilder(page).timeout(TIMEOUT).GET().build(),
              HttpResponse.BodyHandlers.ofString());
      List<EventSource> listed =
          response.statusCode() == 200 ? listed(target.host(), response.body()) : List.of();
      return listed.isEmpty() ? configured(target) : listed;
    } catch (IOException e) {
      return configured(target);
    }
  }

  private static List<EventSource> configured(Target target) {
    List<EventSource> sources = new ArrayList<>();
    Integer replayPort = target.events().replayPort();
    for (int rank = 0; rank < target.events().dataParallelRanks(); rank++) {
      sources.add(
          new EventSource(
              "tcp://" + target.host() + ":" + (target.events().port() + rank),
              replayPort == null ? null : "tcp://" + target.host() + ":" + (replayPort + rank)));
    }
    return sources;
  }

  /** The page's hosts are what the worker bound; the address by which it is reached is known. */
  static List<EventSource> listed(String host, String page) {
    Map<Integer, EventSource> byRank = new TreeMap<>();
    try {
      JsonNode root = JsonMapper.shared().readTree(page);
      JsonNode ranks = root.path("sources").isObject() ? root.path("sources") : root;
      for (Map.Entry<String, JsonNode> rank : ranks.properties()) {
        String live = at(host, rank.getValue().path("endpoint").asString(""));
        if (live != null && rank.getKey().matches("\\d{1,4}")) {
          byRank.put(
              Integer.valueOf(rank.getKey()),
              new EventSource(
                  live, at(host, rank.getValue().path("replay_endpoint").asString(""))));
        }
      }
    } catch (JacksonException e) {
      return List.of();
    }
    return List.copyOf(byRank.values());
  }

  private static @Nullable String at(String host, String endpoint) {
    int colon = endpoint.lastIndexOf(':');
    String port = endpoint.substring(colon + 1);
    return endpoint.startsWith("tcp://") && port.matches("[1-9]\\d{0,4}")
        ? "tcp://" + host + ":" + port
        : null;
  }
}
