package dev.warmpath.xds.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.config.RoutingConfiguration.Worker;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSliceBuilder;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class KubernetesWorkersTest {
  @Test
  void aPodIsAWorkerOnceItHasAnAddress() {
    assertThat(KubernetesWorkers.ofPods(List.of(pod("b", "10.0.0.2", 0), pod("a", null, 0)), 8000))
        .containsExactly(new Worker("b", "10.0.0.2", 8000, "uid-b/0", Worker.State.READY));
  }

  @Test
  void aRestartedContainerIsANewEpoch() {
    assertThat(KubernetesWorkers.ofPods(List.of(pod("a", "10.0.0.1", 3)), 8000))
        .extracting(Worker::epoch)
        .containsExactly("uid-a/3");
  }

  @Test
  void aPodThatEndsOrIsTakenOutDrains() {
    Pod ending =
        new PodBuilder(pod("a", "10.0.0.1", 0))
            .editMetadata()
            .withDeletionTimestamp("2026-01-01T00:00:00Z")
            .endMetadata()
            .build();
    Pod takenOut =
        new PodBuilder(pod("b", "10.0.0.2", 0))
            .editMetadata()
            .addToAnnotations(KubernetesWorkers.DRAIN, "true")
            .endMetadata()
            .build();
    Pod over =
        new PodBuilder(pod("c", "10.0.0.3", 0))
            .editStatus()
            .withPhase("Failed")
            .endStatus()
            .build();
    Pod starting =
        new PodBuilder(pod("d", "10.0.0.4", 0))
            .editStatus()
            .withConditions(List.of())
            .endStatus()
            .build();

    assertThat(KubernetesWorkers.ofPods(List.of(ending, takenOut, over, starting), 8000))
        .extracting(Worker::name, Worker::state)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple("a", Worker.State.DRAINING),
            org.assertj.core.groups.Tuple.tuple("b", Worker.State.DRAINING),
            org.assertj.core.groups.Tuple.tuple("d", Worker.State.NOT_READY));
  }

  @Test
  void endpointsOfSeveralSlicesAreMergedByAddress() {
    assertThat(
            KubernetesWorkers.ofSlices(
                List.of(
                    slice("10.0.0.1", true, false),
                    slice("10.0.0.1", true, false),
                    slice("10.0.0.2", false, false),
                    slice("10.0.0.3", false, true)),
                8000,
                name -> null))
        .extracting(Worker::address, Worker::state)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple("10.0.0.1", Worker.State.READY),
            org.assertj.core.groups.Tuple.tuple("10.0.0.2", Worker.State.NOT_READY),
            org.assertj.core.groups.Tuple.tuple("10.0.0.3", Worker.State.DRAINING));
  }

  private static Pod pod(String name, @Nullable String address, int restarts) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withUid("uid-" + name)
        .endMetadata()
        .withNewStatus()
        .withPhase("Running")
        .withPodIP(address)
        .addNewCondition()
        .withType("Ready")
        .withStatus("True")
        .endCondition()
        .addNewContainerStatus()
        .withName("c")
        .withRestartCount(restarts)
        .endContainerStatus()
        .endStatus()
        .build();
  }

  private static EndpointSlice slice(String address, boolean ready, boolean terminating) {
    return new EndpointSliceBuilder()
        .withAddressType("IPv4")
        .addNewEndpoint()
        .withAddresses(address)
        .withNewConditions()
        .withReady(ready)
        .withTerminating(terminating)
        .endConditions()
        .endEndpoint()
        .build();
  }
}
