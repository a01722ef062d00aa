package dev.warmpath.xds.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.rpc.Status;
import dev.warmpath.crds.resource.Kind;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.xds.translate.EnvoyResources;
import dev.warmpath.xds.translate.XdsResource;
import dev.warmpath.xds.translate.XdsType;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DeltaStateTest {
  private int nonces;

  @Test
  void aFirstWildcardSubscriptionIsAnsweredEvenIfThereIsNothing() {
    DeltaState clusters = new DeltaState(XdsType.CLUSTER);
    assertThat(next(clusters, EnvoyResources.empty())).as("before any request").isNull();

    clusters.onRequest(DeltaDiscoveryRequest.getDefaultInstance());

    assertThat(names(next(clusters, EnvoyResources.empty()))).isEmpty();
    acknowledge(clusters);
    assertThat(next(clusters, EnvoyResources.empty())).isNull();
  }

  @Test
  void onlyWhatChangedIsSent() {
    DeltaState clusters = subscribed(target("a@1", "b@1"));

    assertThat(names(next(clusters, target("a@1", "b@2", "c@1")))).containsExactly("b@2", "c@1");
    acknowledge(clusters);

    assertThat(next(clusters, target("a@1", "b@2", "c@1"))).isNull();
    assertThat(clusters.hasVersion("b", "2")).isTrue();
  }

  @Test
  void oneResponseIsOnItsWayAtATime() {
    DeltaState clusters = new DeltaState(XdsType.CLUSTER);
    clusters.onRequest(DeltaDiscoveryRequest.getDefaultInstance());
    next(clusters, target("a@1"));

    assertThat(next(clusters, target("a@2"))).isNull();
    acknowledge(clusters);

    assertThat(names(next(clusters, target("a@3")))).containsExactly("a@3");
  }

  @Test
  void whatEnvoyHasFromAnEarlierStreamIsNotResentAndRemovedIfUnwanted() {
    DeltaState clusters = new DeltaState(XdsType.CLUSTER);
    clusters.onRequest(
        DeltaDiscoveryRequest.newBuilder()
            .putInitialResourceVersions("a", "1")
            .putInitialResourceVersions("b", "1")
            .putInitialResourceVersions("zombie", "1")
            .build());

    assertThat(names(clusters.next(target("a@1", "b@2"), true, "x"))).containsExactly("b@2");
    clusters.onRequest(DeltaDiscoveryRequest.newBuilder().setResponseNonce("x").build());

    assertThat(names(next(clusters, target("a@1", "b@2")))).containsExactly("-zombie");
    acknowledge(clusters);
    assertThat(clusters.has("zombie")).isFalse();
    assertThat(names(next(clusters, target("b@2")))).containsExactly("-a");
  }

  @Test
  void unknownNoncesAreIgnored() {
    DeltaState clusters = new DeltaState(XdsType.CLUSTER);
    clusters.onRequest(DeltaDiscoveryRequest.getDefaultInstance());
    next(clusters, target("a@1"));

    assertThat(
            clusters.onRequest(DeltaDiscoveryRequest.newBuilder().setResponseNonce("no").build()))
        .isInstanceOf(DeltaState.Verdict.None.class);
    assertThat(clusters.has("a")).isFalse();
  }

  @Test
  void theResourceThatEnvoyNamesIsTriedAloneAndTheOthersTogether() {
    DeltaState clusters = new DeltaState(XdsType.CLUSTER);
    clusters.onRequest(DeltaDiscoveryRequest.getDefaultInstance());
    EnvoyResources target = target("pool/good1@1", "pool/bad@1", "pool/good2@1");
    next(clusters, target);

    refuse(clusters, "Error adding/updating cluster(s) pool/bad: no such thing");

    assertThat(names(next(clusters, target))).containsExactly("pool/good1@1", "pool/good2@1");
    acknowledge(clusters);
    assertThat(names(next(clusters, target))).containsExactly("pool/bad@1");
    DeltaState.Verdict verdict = refuse(clusters, "no such thing");
    assertThat(verdict).isInstanceOf(DeltaState.Verdict.Refused.class);
    assertThat(next(clusters, target)).as("parked").isNull();
    assertThat(clusters.refusal("pool/bad", "1")).isEqualTo("no such thing");
    assertThat(clusters.has("pool/good2")).isTrue();
  }

  @Test
  void aRefusalThatNamesNobodyIsHalvedUntilTheBadOneIsAlone() {
    List<String> wanted = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      wanted.add("c" + (100 + i) + "@1");
    }
    EnvoyResources target = target(wanted.toArray(String[]::new));
    DeltaState clusters = new DeltaState(XdsType.CLUSTER);
    clusters.onRequest(DeltaDiscoveryRequest.getDefaultInstance());

    int responses = 0;
    DeltaState.Response response = next(clusters, target);
    while (response != null) {
      responses++;
      if (names(response).contains("c117@1")) {
        refuse(clusters, "Proto constraint validation failed");
      } else {
        acknowledge(clusters);
      }
      response = next(clusters, target);
    }

    assertThat(responses).isLessThan(20);
    assertThat(clusters.refusals()).containsOnlyKeys("c117");
    wanted.forEach(
        name -> assertThat(clusters.has(name.substring(0, 4))).isEqualTo(!name.equals("c117@1")));
  }

  @Test
  void aRefusedResourceIsTriedAgainOnlyWhenItChangesAndThenAlone() {
    DeltaState clusters = subscribed(target("a@1", "b@1"));
    next(clusters, target("a@1", "b@2"));
    refuse(clusters, "bad");

    assertThat(names(next(clusters, target("a@2", "b@3")))).containsExactly("a@2");
    acknowledge(clusters);
    assertThat(names(next(clusters, target("a@2", "b@3")))).containsExactly("b@3");
    acknowledge(clusters);
    assertThat(clusters.refusals()).isEmpty();
  }

  @Test
  void namesThatDoNotExistAreToldSoOnceAndSentWhenTheyAppear() {
    DeltaState secrets = new DeltaState(XdsType.SECRET);
    secrets.onRequest(DeltaDiscoveryRequest.newBuilder().addResourceNamesSubscribe("s").build());

    assertThat(names(next(secrets, EnvoyResources.empty()))).containsExactly("-s");
    acknowledge(secrets);
    assertThat(next(secrets, EnvoyResources.empty())).isNull();

    EnvoyResources target = new EnvoyResources(List.of(resource(XdsType.SECRET, "s@1")));
    assertThat(names(next(secrets, target))).containsExactly("s@1");
  }

  @Test
  void whatIsAskedForAgainIsSentAgain() {
    EnvoyResources target = new EnvoyResources(List.of(resource(XdsType.ENDPOINT, "a@1")));
    DeltaState endpoints = new DeltaState(XdsType.ENDPOINT);
    endpoints.onRequest(DeltaDiscoveryRequest.newBuilder().addResourceNamesSubscribe("a").build());
    next(endpoints, target);
    acknowledge(endpoints);
    assertThat(next(endpoints, target)).isNull();

    endpoints.onRequest(DeltaDiscoveryRequest.newBuilder().addResourceNamesSubscribe("a").build());
    assertThat(names(next(endpoints, target))).containsExactly("a@1");
    acknowledge(endpoints);

    endpoints.resend("a");
    assertThat(names(next(endpoints, target))).containsExactly("a@1");
  }

  private DeltaState subscribed(EnvoyResources target) {
    DeltaState clusters = new DeltaState(XdsType.CLUSTER);
    clusters.onRequest(DeltaDiscoveryRequest.getDefaultInstance());
    next(clusters, target);
    acknowledge(clusters);
    return clusters;
  }

  private DeltaState.@Nullable Response next(DeltaState state, EnvoyResources target) {
    DeltaState.Response response = state.next(target, false, "n" + (nonces + 1));
    if (response != null) {
      nonces++;
    }
    return response;
  }

  private void acknowledge(DeltaState state) {
    state.onRequest(DeltaDiscoveryRequest.newBuilder().setResponseNonce("n" + nonces).build());
  }

  private DeltaState.Verdict refuse(DeltaState state, String reason) {
    return state.onRequest(
        DeltaDiscoveryRequest.newBuilder()
            .setResponseNonce("n" + nonces)
            .setErrorDetail(Status.newBuilder().setCode(13).setMessage(reason))
            .build());
  }

  private static List<String> names(DeltaState.@Nullable Response response) {
    assertThat(response).isNotNull();
    List<String> names = new ArrayList<>();
    if (response != null) {
      response.resources().forEach(r -> names.add(r.name() + "@" + r.version()));
      response.removed().forEach(name -> names.add("-" + name));
    }
    return names;
  }

  private static EnvoyResources target(String... resources) {
    return new EnvoyResources(
        Arrays.stream(resources).map(name -> resource(XdsType.CLUSTER, name)).toList());
  }

  private static XdsResource resource(XdsType type, String nameAtVersion) {
    int at = nameAtVersion.indexOf('@');
    String name = nameAtVersion.substring(0, at);
    String version = nameAtVersion.substring(at + 1);
    return new XdsResource(
        type,
        name,
        version,
        Any.newBuilder()
            .setTypeUrl(type.url())
            .setValue(ByteString.copyFromUtf8(nameAtVersion))
            .build(),
        new Resource.Key(Kind.POOL, "default", name),
        Set.of(),
        Set.of());
  }
}
