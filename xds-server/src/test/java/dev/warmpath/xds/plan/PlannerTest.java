package dev.warmpath.xds.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.resource.Kind;
import dev.warmpath.crds.resource.ParsedResources;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.resource.ResourceParser;
import dev.warmpath.crds.resource.ResourceValidator;
import dev.warmpath.xds.source.Secrets;
import dev.warmpath.xds.source.SourceSnapshot;
import dev.warmpath.xds.support.Yaml;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PlannerTest {
  private static final Resource.Key POLICY = new Resource.Key(Kind.POLICY, "default", "pii");

  private final Planner planner = new Planner(new ResourceValidator());

  @Test
  void aBrokenNewVersionKeepsTheLastGoodOneInForce() {
    String served = Yaml.served("qwen", "127.0.0.1:1");
    plan(served + policy("labels.pii != 'absent'"));

    Plan plan = plan(served + policy("labels.pii !="));

    assertThat(plan.routing().policies())
        .singleElement()
        .satisfies(policy ->
            assertThat(policy.spec().constraints().getFirst().when())
                .isEqualTo("labels.pii != 'absent'"));
    assertThat(plan.routing().unavailablePolicies()).isEmpty();
    assertThat(plan.states().get(POLICY))
        .isNotNull()
        .satisfies(state -> assertThat(state.acceptance()).isEqualTo(Plan.Acceptance.LAST_GOOD));
    assertThat(plan.problems()).isNotEmpty();
  }

  @Test
  void aPolicyThatNeverWasGoodMakesItsModelsUnavailable() {
    Plan plan = plan(Yaml.served("qwen", "127.0.0.1:1") + policy("labels.pii !="));

    assertThat(plan.routing().policies()).isEmpty();
    assertThat(plan.routing().unavailablePolicies())
        .singleElement()
        .satisfies(policy -> assertThat(policy.models()).containsExactly("qwen*"));
  }

  @Test
  void aBrokenPolicyThatIsDeletedIsForgotten() {
    plan(Yaml.served("qwen", "127.0.0.1:1") + policy("labels.pii != 'absent'"));
    plan(Yaml.served("qwen", "127.0.0.1:1"));

    Plan plan = plan(Yaml.served("qwen", "127.0.0.1:1") + policy("labels.pii !="));

    assertThat(plan.routing().policies()).isEmpty();
    assertThat(plan.routing().unavailablePolicies()).hasSize(1);
  }

  @Test
  void anUnreadableTenantDoesNotOpenTheGateway() {
    Plan plan =
        plan(
            """
            apiVersion: inference.warmpath.dev/v1alpha1
            kind: InferenceTenant
            metadata: {name: team-a}
            spec: {nonsense: true}
            """);

    assertThat(plan.routing().tenants())
        .singleElement()
        .satisfies(tenant -> {
          assertThat(tenant.apiKeySha256()).isEmpty();
          assertThat(tenant.spec().models().deny()).containsExactly("*");
        });
  }

  @Test
  void aPoolOutlivesAWorkerSetThatGoesAway() {
    plan(Yaml.served("qwen", "127.0.0.1:1"));

    Plan plan = plan(Yaml.pool("qwen", "qwen", "qwen") + Yaml.backend("qwen", "qwen", "qwen"));

    assertThat(plan.routing().backends()).hasSize(1);
    assertThat(plan.routing().pools())
        .singleElement()
        .satisfies(pool -> assertThat(pool.spec().workerSets()).isEmpty());
    assertThat(plan.problems())
        .anySatisfy(p -> assertThat(p.reason()).isEqualTo("ReferenceNotFound"));
  }

  private Plan plan(String text) {
    ParsedResources parsed = new ResourceParser().parse("a.yaml", text);
    return planner.plan(
        new SourceSnapshot(
            parsed.resources(), parsed.rejected(), Map.of(), Secrets.empty(), parsed.problems()));
  }

  private static String policy(String when) {
    return """
    ---
    apiVersion: inference.warmpath.dev/v1alpha1
    kind: InferencePolicy
    metadata: {name: pii}
    spec:
      match: {models: ["qwen*"]}
      constraints:
      - {name: stays, when: "%s", exclude: "backend.external", message: no}
    """
        .formatted(when);
  }
}
