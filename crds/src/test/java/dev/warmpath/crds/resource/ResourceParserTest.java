package dev.warmpath.crds.resource;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.crds.v1alpha1.ProviderSpec;
import dev.warmpath.crds.v1alpha1.TenantSpec;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ResourceParserTest {
  private static final String HEAD = "apiVersion: inference.warmpath.dev/v1alpha1\n";

  private final ResourceParser parser = new ResourceParser();

  @Test
  void absentFieldsGetTheirDefaults() {
    ParsedResources parsed =
        parser.parse(
            "all.yaml",
            HEAD
                + """
                kind: InferenceWorkerSet
                metadata: {name: l40s}
                spec:
                  workers: {addresses: [{name: w0, address: 127.0.0.1, port: 9001}]}
                ---
                """
                + HEAD
                + """
                kind: InferencePool
                metadata: {name: qwen}
                spec: {model: Qwen/Qwen3.8-27B-FP8, workerSets: [{name: l40s}]}
                ---
                """
                + HEAD
                + """
                kind: InferenceProvider
                metadata: {name: openai}
                spec: {type: OpenAI, credentials: {apiKey: {secret: {name: openai, key: k}}}}
                ---
                """
                + HEAD
                + """
                kind: GatewayBackend
                metadata: {name: qwen-local, namespace: team}
                spec: {models: [qwen-27b], pool: {name: qwen}}
                ---
                """
                + HEAD
                + """
                kind: InferencePolicy
                metadata: {name: p}
                spec: {route: {tiers: [{backends: {names: [qwen-local]}}]}}
                ---
                """
                + HEAD
                + """
                kind: InferenceTenant
                metadata: {name: team-a}
                spec: {apiKeys: [{secret: {name: team-a, key: primary}}]}
                """);

    assertThat(parsed.problems()).isEmpty();
    assertThat(parsed.rejected()).isEmpty();
    ResourceSet resources = parsed.resources();
    assertThat(resources.workerSets().getFirst().spec())
        .isEqualTo(
            new WorkerSetSpec(
                WorkerSetSpec.Engine.vLLM,
                new WorkerSetSpec.Workers(
                    null, null, List.of(new WorkerSetSpec.Address("w0", "127.0.0.1", 9001))),
                new WorkerSetSpec.Metrics("/metrics", Duration.ofSeconds(1)),
                new WorkerSetSpec.KvEvents(WorkerSetSpec.KvEvents.Mode.Off, 5557, null, 1),
                new WorkerSetSpec.Profile(null, null, null, null),
                Duration.ofSeconds(30)));
    PoolSpec pool = resources.pools().getFirst().spec();
    assertThat(pool.objective()).isEqualTo(new PoolSpec.Objective(Duration.ofSeconds(8), 0.9));
    assertThat(pool.routing().algorithm()).isEqualTo(PoolSpec.Algorithm.PredictedTTFT);
    assertThat(pool.limits().maxQueuedPromptsPerWorker()).isEqualTo(64);
    assertThat(pool.tokenizer()).isNull();
    ProviderSpec provider = resources.providers().getFirst().spec();
    assertThat(provider.limits().concurrency()).isEqualTo(200);
    assertThat(provider.expectedTtft()).isEqualTo(Duration.ofSeconds(1));
    Resource<BackendSpec> backend = resources.backends().getFirst();
    assertThat(backend.namespace()).isEqualTo("team");
    assertThat(backend.spec().labels()).isEmpty();
    assertThat(backend.spec().routes()).isEmpty();
    assertThat(backend.spec().capabilities())
        .isEqualTo(new BackendSpec.Capabilities(null, true, true));
    PolicySpec policy = resources.policies().getFirst().spec();
    assertThat(policy.priority()).isEqualTo(100);
    assertThat(policy.mode()).isEqualTo(PolicySpec.Mode.Enforce);
    assertThat(policy.match()).isEqualTo(new PolicySpec.Match(List.of(), null, List.of(), null));
    assertThat(policy.route())
        .isEqualTo(
            new PolicySpec.Route(
                List.of(
                    new PolicySpec.Tier(
                        new PolicySpec.BackendSelector(List.of("qwen-local"), Map.of()), null)),
                PolicySpec.Choose.PredictedTTFT,
                Duration.ofMillis(200)));
    assertThat(policy.onNoCandidate())
        .isEqualTo(
            new PolicySpec.OnNoCandidate(
                PolicySpec.OnNoCandidate.Action.Reject,
                503,
                Duration.ofSeconds(5),
                Duration.ofSeconds(60)));
    TenantSpec tenant = resources.tenants().getFirst().spec();
    assertThat(tenant.models()).isEqualTo(new TenantSpec.Models(List.of("*"), List.of()));
    assertThat(tenant.limits()).isEqualTo(new TenantSpec.Limits(null, null, null));
    assertThat(tenant.priority()).isZero();
  }

  @Test
  void everyFaultOfADocumentIsReportedWithItsPlace() {
    String text =
        HEAD
            + """
            kind: InferencePool
            metadata:
              name: qwen
            spec:
              workerSet: [{name: l40s}]
              objective:
                ttft: 8
                quantile: "0.9"
              routing: {algorithm: PredictedTtft}
              limits:
                maxQueuedPromptsPerWorker: 0
                maxQueuedPromptsPerWorker: 4
            """;

    List<Problem> problems = parser.parse("pools.yaml", text).problems();

    assertThat(problems)
        .extracting(Problem::toString)
        .containsExactlyInAnyOrder(
            "pools.yaml:13: error: InferencePool default/qwen:"
                + " spec.limits.maxQueuedPromptsPerWorker: this field is written twice, first in"
                + " line 12 (DuplicateKey)",
            "pools.yaml:6: error: InferencePool default/qwen: spec.workerSet: there is no such"
                + " field; did you mean workerSets? (UnknownField)",
            "pools.yaml:6: error: InferencePool default/qwen: spec.model: this field is required"
                + " (MissingField)",
            "pools.yaml:6: error: InferencePool default/qwen: spec.workerSets: this field is"
                + " required (MissingField)",
            "pools.yaml:8: error: InferencePool default/qwen: spec.objective.ttft: must be a"
                + " duration such as 900ms, 1s or 1m30s, got the number 8; a unit is needed"
                + " (InvalidDuration)",
            "pools.yaml:9: error: InferencePool default/qwen: spec.objective.quantile: must be a"
                + " number, got the text \"0.9\"; write it without quotes (WrongType)",
            "pools.yaml:10: error: InferencePool default/qwen: spec.routing.algorithm: must be one"
                + " of PredictedTTFT, LeastRequest, RoundRobin, Random, PrefixAffinity, got the"
                + " text \"PredictedTtft\"; did you mean PredictedTTFT? (UnsupportedValue)",
            "pools.yaml:12: error: InferencePool default/qwen:"
                + " spec.limits.maxQueuedPromptsPerWorker: must be at least 1, got 0 (OutOfRange)");
  }

  @Test
  void aBadDocumentHidesNoOther() {
    String text =
        "a: [\n---\n"
            + "just text\n---\n"
            + "# nothing\n---\n"
            + HEAD
            + "kind: InferencePol\nmetadata: {name: x}\nspec: {}\n---\n"
            + "apiVersion: v1\nkind: InferencePool\nmetadata: {name: z}\n"
            + "spec: {model: m, workerSets: [{name: w}]}\n...\n---\n"
            + HEAD
            + "kind: InferencePool\nmetadata: {name: good}\n"
            + "spec: {model: m, workerSets: [{name: w}]}\n";

    ParsedResources parsed = parser.parse("f.yaml", text);

    assertThat(parsed.resources().all()).extracting(Resource::name).containsExactly("good");
    assertThat(parsed.problems())
        .extracting(p -> p.line() + " " + p.reason())
        .containsExactly(
            "2 InvalidYaml", "3 InvalidYaml", "8 UnsupportedKind", "12 UnsupportedApiVersion");
    assertThat(parsed.rejected())
        .extracting(r -> r.key().toString())
        .containsExactly("InferencePool default/z");
  }

  @Test
  void ofTwoWithTheSameNameTheFirstCounts() {
    String pool =
        HEAD
            + "kind: InferencePool\nmetadata: {name: p}\nspec: {model: %s, workerSets: [{name: w}]}\n";
    ParsedResources parsed =
        parser.parseAll(
            new TreeMap<>(
                Map.of("b.yaml", pool.formatted("two"), "a.yaml", pool.formatted("one"))));

    assertThat(parsed.resources().pools()).extracting(r -> r.spec().model()).containsExactly("one");
    assertThat(parsed.problems())
        .extracting(Problem::toString)
        .containsExactly(
            "b.yaml:1: error: InferencePool default/p: metadata.name: the same resource is written"
                + " in a.yaml:1; that one counts (DuplicateResource)");
  }

  @Test
  void aPolicyThatCannotBeReadTellsWhatMustFailClosed() {
    String policy = HEAD + "kind: InferencePolicy\nmetadata: {name: pii}\nspec:\n";
    ParsedResources parsed =
        parser.parseAll(
            new TreeMap<>(
                Map.of(
                    "a.yaml",
                    policy + "  match: {models: [qwen-*]}\n  constraints: [{name: x}]\n",
                    "b.yaml",
                    policy.replace("pii", "route") + "  route: {tiers: []}\n",
                    "c.yaml",
                    policy.replace("pii", "torn") + "  constraints:\n  - name: 'half")));

    assertThat(parsed.rejected())
        .extracting(r -> r.name() + " " + r.policyModels() + " " + r.mayConstrain())
        .containsExactly("pii [qwen-*] true", "route [] false", "torn [] true");
  }

  @Test
  void anApiObjectIsReadByTheSameRules() {
    ParsedResources parsed =
        parser.parseObject(
            Map.of(
                "apiVersion", "inference.warmpath.dev/v1alpha1",
                "kind", "GatewayBackend",
                "metadata",
                    Map.of(
                        "name", "b",
                        "namespace", "ns",
                        "uid", "u-1",
                        "generation", 3,
                        "creationTimestamp", "2026-01-01T00:00:00Z",
                        "managedFields", List.of(Map.of("manager", "kubectl"))),
                "spec",
                    Map.of(
                        "models", List.of("m"),
                        "pool", Map.of("name", "p"),
                        "pricing", Map.of("inputPerMillion", 0.2, "outputPerMillion", 1)),
                "status", Map.of("conditions", List.of())));

    assertThat(parsed.problems()).isEmpty();
    Resource<BackendSpec> backend = parsed.resources().backends().getFirst();
    assertThat(backend.uid()).isEqualTo("u-1");
    assertThat(backend.generation()).isEqualTo(3);
    assertThat(backend.spec().pricing())
        .isEqualTo(
            new BackendSpec.Pricing("USD", new BigDecimal("0.2"), null, new BigDecimal("1")));
  }

  @Test
  void aPriceIsTheSameHoweverItIsWritten() {
    String backend =
        HEAD
            + """
            kind: GatewayBackend
            metadata: {name: b}
            spec:
              models: [m]
              pool: {name: p}
              pricing: {inputPerMillion: %s, outputPerMillion: %s}
            """;

    ParsedResources zeros = parser.parse("a.yaml", backend.formatted("0.20", "100.0"));
    ParsedResources plain = parser.parse("a.yaml", backend.formatted("0.2", "1e2"));

    assertThat(zeros.resources()).isEqualTo(plain.resources());
    assertThat(zeros.resources().backends().getFirst().spec().pricing())
        .isEqualTo(
            new BackendSpec.Pricing("USD", new BigDecimal("0.2"), null, new BigDecimal("100")));
  }

  @Test
  void bareWordsThatKubectlReadsAsBooleansAreWarnedOf() {
    ParsedResources parsed =
        parser.parse(
            "w.yaml",
            HEAD
                + """
                kind: InferenceWorkerSet
                metadata: {name: w}
                spec:
                  workers: {service: {name: vllm, port: 8000}}
                  kvEvents: {mode: Off}
                """);

    assertThat(parsed.resources().workerSets()).hasSize(1);
    assertThat(parsed.problems())
        .extracting(Problem::toString)
        .containsExactly(
            "w.yaml:6: warning: InferenceWorkerSet default/w: spec.kvEvents.mode: write \"Off\" in"
                + " quotes: kubectl and helm read it bare as a boolean (AmbiguousScalar)");
  }
}
