package dev.warmpath.extproc.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.warmpath.crds.v1alpha1.ProviderSpec;
import dev.warmpath.extproc.label.LabelSource;
import dev.warmpath.extproc.policy.Configuration.PolicyText;
import dev.warmpath.extproc.policy.PolicyTrace.Cause;
import dev.warmpath.extproc.request.Operation;
import dev.warmpath.extproc.tenant.Tenant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A provider gets only what it understands: nothing is translated on the way. */
class ProviderDialectTest {
  private static final Map<ProviderSpec.Type, String> SPOKEN =
      Map.of(
          ProviderSpec.Type.OpenAI, "the OpenAI API only",
          ProviderSpec.Type.AzureOpenAI, "the OpenAI API only",
          ProviderSpec.Type.OpenAICompatible, "the OpenAI API only",
          ProviderSpec.Type.Anthropic, "the Anthropic API only",
          ProviderSpec.Type.Bedrock, "an API of its own");

  static Stream<Arguments> everyOperationAndType() {
    return Arrays.stream(Operation.values())
        .flatMap(operation ->
            Arrays.stream(ProviderSpec.Type.values())
                .map(provider -> Arguments.of(operation, provider)));
  }

  @ParameterizedTest
  @MethodSource("everyOperationAndType")
  void aProviderIsACandidateForItsOwnDialectAlone(Operation operation, ProviderSpec.Type provider) {
    Configuration alone = new Configuration().provider(provider, "cloud", "cloud", "big");

    PolicyPlan plan = plan(alone, operation, new FakeCluster());

    if (understands(provider, operation)) {
      assertThat(ReferencePlan.words(plan)).endsWith(" cloud");
      return;
    }
    assertThat(plan)
        .asInstanceOf(type(PolicyPlan.NoCandidate.class))
        .returns(400, PolicyPlan.NoCandidate::status)
        .returns("capability_missing", PolicyPlan.NoCandidate::code)
        .extracting(PolicyPlan.NoCandidate::message)
        .asString()
        .contains("'big'", SPOKEN.get(provider), operation.path());
  }

  @ParameterizedTest
  @MethodSource("everyOperationAndType")
  void asAFallbackItIsLeftOutAndTheOthersStay(Operation operation, ProviderSpec.Type provider) {
    Configuration fallback =
        new Configuration()
            .pool("local", "big")
            .provider(provider, "cloud", "cloud", "big")
            .policy(new PolicyText("burst").tier(null, "local").tier(null, "cloud"));
    FakeCluster up = new FakeCluster().pool("local", FakeCluster.worker("w0", 0));

    PolicyPlan served = plan(fallback, operation, up);
    PolicyPlan down = plan(fallback, operation, new FakeCluster());

    if (understands(provider, operation)) {
      assertThat(ReferencePlan.words(served)).endsWith("local{0} > cloud");
      assertThat(ReferencePlan.words(down)).endsWith(" cloud");
      return;
    }
    assertThat(ReferencePlan.words(served)).endsWith(" local{0}");
    assertThat(served.trace().removals())
        .extracting(PolicyTrace.Removal::cause)
        .containsExactly(Cause.DIALECT);
    // The pool may be back soon, so this is not the request's fault.
    assertThat(down)
        .asInstanceOf(type(PolicyPlan.NoCandidate.class))
        .returns(503, PolicyPlan.NoCandidate::status)
        .extracting(PolicyPlan.NoCandidate::message)
        .asString()
        .contains("'local' is unavailable", SPOKEN.get(provider));
  }

  private static boolean understands(ProviderSpec.Type provider, Operation operation) {
    List<Operation> anthropic = List.of(Operation.MESSAGES, Operation.COUNT_TOKENS);
    return switch (provider) {
      case OpenAI, AzureOpenAI, OpenAICompatible -> !anthropic.contains(operation);
      case Anthropic -> anthropic.contains(operation);
      case Bedrock -> false;
    };
  }

  private static PolicyPlan plan(
      Configuration configuration, Operation operation, FakeCluster cluster) {
    RequestFacts facts =
        new RequestFacts(
            "big", operation.path(), operation.dialect(), 10, 10, false, false, 0, 0, Map.of());
    return configuration.compile().plan(facts, Tenant.ANONYMOUS, LabelSource.NONE, cluster);
  }
}
