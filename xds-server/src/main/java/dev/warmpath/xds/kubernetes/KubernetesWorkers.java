package dev.warmpath.xds.kubernetes;

import dev.warmpath.crds.config.RoutingConfiguration.Worker;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointConditions;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointPort;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Pods and EndpointSlices as workers. A Pod that ends is DRAINING until it is gone; one that is not
 * ready is NOT_READY. The epoch changes with the Pod and with each restart of a container in it:
 * the new process has a cold cache.
 */
final class KubernetesWorkers {
  /** Annotation with which an operator takes a worker out of service. */
  static final String DRAIN = "inference.warmpath.dev/drain";

  private KubernetesWorkers() {}

  static List<Worker> ofPods(Collection<Pod> pods, int port) {
    List<Worker> workers = new ArrayList<>();
    for (Pod pod : pods) {
      PodStatus status = pod.getStatus();
      String address = status == null ? null : status.getPodIP();
      if (status == null || address == null || address.isEmpty() || hasEnded(status)) {
        continue;
      }
      workers.add(
          new Worker(
              pod.getMetadata().getName(), address, port, epoch(pod, status), state(pod, status)));
    }
    return sorted(workers);
  }

  /**
   * The endpoints of a Service.
   *
   * @param pods a Pod by name, or null: for restarts and the drain annotation, which slices lack
   */
  static List<Worker> ofSlices(
      Collection<EndpointSlice> slices, int port, Function<String, @Nullable Pod> pods) {
    // While a slice is split or merged an endpoint may stand in two.
    Map<String, Worker> byAddress = new LinkedHashMap<>();
    for (EndpointSlice slice : slices) {
      if (slice.getEndpoints() == null || "FQDN".equals(slice.getAddressType())) {
        continue;
      }
      for (Endpoint endpoint : slice.getEndpoints()) {
        if (endpoint.getAddresses() == null || endpoint.getAddresses().isEmpty()) {
          continue;
        }
        String address = endpoint.getAddresses().getFirst();
        ObjectReference target = endpoint.getTargetRef();
        String name = target == null || target.getName() == null ? address : target.getName();
        String epoch = target == null || target.getUid() == null ? "" : target.getUid();
        Worker.State state = state(endpoint);
        Pod pod = target == null ? null : pods.apply(name);
        if (pod != null && epoch.equals(pod.getMetadata().getUid()) && pod.getStatus() != null) {
          epoch = epoch(pod, pod.getStatus());
          state = isDraining(pod) ? Worker.State.DRAINING : state;
        }
        int at = port(slice, port);
        byAddress.put(address + " " + at, new Worker(name, address, at, epoch, state));
      }
    }
    return sorted(byAddress.values());
  }

  /** Slices of one Service differ where its Pods name their ports. */
  private static int port(EndpointSlice slice, int wanted) {
    List<Integer> ports =
        slice.getPorts() == null
            ? List.of()
            : slice.getPorts().stream()
                .map(EndpointPort::getPort)
                .filter(Objects::nonNull)
                .toList();
    return ports.size() == 1 && !ports.contains(wanted) ? ports.getFirst() : wanted;
  }

  private static List<Worker> sorted(Collection<Worker> workers) {
    return workers.stream()
        .sorted(java.util.Comparator.comparing(Worker::name).thenComparing(Worker::address))
        .toList();
  }

  private static boolean hasEnded(PodStatus status) {
    return "Succeeded".equals(status.getPhase()) || "Failed".equals(status.getPhase());
  }

  private static String epoch(Pod pod, PodStatus status) {
    int restarts = 0;
    if (status.getContainerStatuses() != null) {
      for (ContainerStatus container : status.getContainerStatuses()) {
        restarts += container.getRestartCount() == null ? 0 : container.getRestartCount();
      }
    }
    return pod.getMetadata().getUid() + "/" + restarts;
  }

  private static Worker.State state(Pod pod, PodStatus status) {
    if (isDraining(pod)) {
      return Worker.State.DRAINING;
    }
    boolean ready =
        status.getConditions() != null
            && status.getConditions().stream()
                .anyMatch(c -> "Ready".equals(c.getType()) && "True".equals(c.getStatus()));
    return ready ? Worker.State.READY : Worker.State.NOT_READY;
  }

  private static boolean isDraining(Pod pod) {
    Map<String, String> annotations = pod.getMetadata().getAnnotations();
    return pod.getMetadata().getDeletionTimestamp() != null
        || (annotations != null && "true".equals(annotations.get(DRAIN)));
  }

  private static Worker.State state(Endpoint endpoint) {
    @Nullable EndpointConditions conditions = endpoint.getConditions();
    if (conditions == null) {
      return Worker.State.READY;
    }
    if (Boolean.TRUE.equals(conditions.getTerminating())) {
      return Worker.State.DRAINING;
    }
    // Absent means unknown, which the API says to read as ready.
    return Boolean.FALSE.equals(conditions.getReady())
        ? Worker.State.NOT_READY
        : Worker.State.READY;
  }
}
