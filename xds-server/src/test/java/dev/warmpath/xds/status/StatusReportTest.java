package dev.warmpath.xds.status;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.config.RoutingConfiguration.Worker;
import dev.warmpath.crds.resource.Kind;
import dev.warmpath.crds.resource.ParsedResources;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.resource.ResourceParser;
import dev.warmpath.crds.resource.ResourceValidator;
import dev.warmpath.xds.plan.Plan;
import dev.warmpath.xds.plan.Planner;
import dev.warmpath.xds.source.Secrets;
import dev.warmpath.xds.source.SourceSnapshot;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class StatusReportTest {
  private static final String SERVED =
      """
      apiVersion: inference.warmpath.dev/v1alpha1
      kind: InferenceWorkerSet
      metadata: {name: s, namespace: n}
      spec: {engine: vLLM, workers: {service: {name: s, port: 8000}}}
      ---
      apiVersion: inference.warmpath.dev/v1alpha1
      kind: InferencePool
      metadata: {name: p, namespace: n}
      spec: {model: m, workerSets: [{name: s}]}
      ---
      apiVersion: inference.warmpath.dev/v1alpha1
      kind: GatewayBackend
      metadata: {name: b, namespace: n}
      spec: {models: [m, alias], pool: {name: p}}
      """;

  private static final Resource.Key SET = new Resource.Key(Kind.WORKER_SET, "n", "s");
  private static final Resource.Key POOL = new Resource.Key(Kind.POOL, "n", "p");
  private static final Resource.Key BACKEND = new Resource.Key(Kind.BACKEND, "n", "b");

  private static final Standing HAS_ALL = new Standing("a", false, Set.of(), Map.of());

  @Test
  void allIsWellWhereEveryGatewayHasItAndAWorkerIsReady() {
    Plan plan =
        plan(List.of(worker("w0", Worker.State.READY), worker("w1", Worker.State.DRAINING)));

    List<ResourceStatus> report = StatusReport.ofStandings(plan, List.of(HAS_ALL));

    assertThat(report)
        .allSatisfy(status ->
            assertThat(status.conditions())
                .allMatch(condition -> condition.status() == ResourceStatus.Value.True));
    assertThat(text(report, POOL, StatusReport.READY)).isEqualTo("True Ready: 1 of 2 workers");
    assertThat(find(report, POOL).facts().workers()).isEqualTo(2);
    assertThat(find(report, SET).facts().ready()).isEqualTo(1);
    assertThat(find(report, BACKEND).facts().models()).isEqualTo(2);
    assertThat(find(report, BACKEND).facts().target()).isEqualTo("pool/p");
  }

  @Test
  void gatewaysAreCountedAndAnEnvoyThatRefusesIsQuoted() {
    Plan plan = plan(List.of(worker("w0", Worker.State.READY)));
    Standing lacks = new Standing("b", false, Set.of(POOL), Map.of());
    Standing refuses = new Standing("c", false, Set.of(POOL), Map.of(POOL, "no such thing"));

    assertThat(text(StatusReport.ofStandings(plan, List.of()), POOL, StatusReport.PROGRAMMED))
        .isEqualTo("Unknown NoGateway: no gateway is connected");
    assertThat(
            text(
                StatusReport.ofStandings(plan, List.of(HAS_ALL, lacks)),
                POOL,
                StatusReport.PROGRAMMED))
        .isEqualTo("False Pending: generation 0: 1 of 2 gateways");
    assertThat(
            text(
                StatusReport.ofStandings(plan, List.of(HAS_ALL, refuses)),
                POOL,
                StatusReport.PROGRAMMED))
        .isEqualTo(
            "False Refused: generation 0: 1 of 2 gateways; refused by Envoy of c: no such thing");
    assertThat(
            text(
                StatusReport.ofStandings(plan, List.of(HAS_ALL, refuses)),
                BACKEND,
                StatusReport.PROGRAMMED))
        .startsWith("True");
  }

  @Test
  void aGatewayThatMovedFromOneReplicaToAnotherCountsOnce() {
    StatusView view = new StatusView(plan(List.of()), List.of(HAS_ALL));
    Standing before = new Standing("a", true, Set.of(), Map.of());

    assertThat(text(view.report(List.of(before)), POOL, StatusReport.PROGRAMMED))
        .isEqualTo("True Programmed: generation 0: 1 of 1 gateways");
  }

  @Test
  void aPoolWithoutAReadyWorkerIsNotReady() {
    assertThat(
            text(
                StatusReport.ofStandings(plan(List.of()), List.of(HAS_ALL)),
                POOL,
                StatusReport.READY))
        .isEqualTo("False NoReadyWorkers: no worker was found");
    assertThat(
            text(
                StatusReport.ofStandings(
                    plan(List.of(worker("w0", Worker.State.NOT_READY))), List.of(HAS_ALL)),
                POOL,
                StatusReport.READY))
        .isEqualTo("False NoReadyWorkers: none of 1 workers is ready");
  }

  private static Plan plan(List<Worker> workers) {
    ParsedResources parsed = new ResourceParser().parse("in.yaml", SERVED);
    return new Planner(new ResourceValidator())
        .plan(
            new SourceSnapshot(
                parsed.resources(),
                parsed.rejected(),
                Map.of(SET, workers),
                Secrets.empty(),
                parsed.problems()));
  }

  private static Worker worker(String name, Worker.State state) {
    return new Worker(name, "10.0.0." + name.charAt(1), 8000, "", state);
  }

  private static ResourceStatus find(List<ResourceStatus> report, Resource.Key key) {
    return report.stream().filter(status -> status.key().equals(key)).findFirst().orElseThrow();
  }

  private static String text(List<ResourceStatus> report, Resource.Key key, String type) {
    ResourceStatus.Condition condition = find(report, key).condition(type);
    return condition.status() + " " + condition.reason() + ": " + condition.message();
  }
}
