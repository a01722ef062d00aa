package dev.warmpath.crds.resource;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ResourceValidatorTest {
  private static final String GOOD_SET =
      resource(
          "InferenceWorkerSet",
          "l40s",
          "workers: {addresses: [{name: w0, address: 127.0.0.1, port: 9001}]}");
  private static final String GOOD_POOL =
      resource("InferencePool", "qwen", "model: Qwen/Qwen\nworkerSets: [{name: l40s}]");
  private static final String GOOD_PROVIDER =
      resource(
          "InferenceProvider",
          "openai",
          "type: OpenAI\ncredentials: {apiKey: {secret: {name: s, key: k}}}");
  private static final String LOCAL =
      resource(
          "GatewayBackend",
          "qwen-local",
          "models: [qwen-27b, gpt-4o-mini]\npool: {name: qwen}\nlabels: {tier: standard}");
  private static final String CLOUD =
      resource(
          "GatewayBackend",
          "gpt-cloud",
          "models: [gpt-4o-mini]\nprovider: {name: openai, model: gpt-4o-mini}\nlabels: {tier: cloud}");
  private static final List<String> GOOD =
      List.of(GOOD_SET, GOOD_POOL, GOOD_PROVIDER, LOCAL, CLOUD);

  @Test
  void aWholeGoodSetHasNoProblem() {
    assertThat(problems(GOOD)).isEmpty();
  }

  @Test
  void referencesResolveInTheSameNamespace() {
    assertThat(
            problems(
                resource("InferencePool", "p", "model: m\nworkerSets: [{name: l40}]"),
                GOOD_SET.replace("name: l40s}", "name: l40s, namespace: other}"),
                resource("GatewayBackend", "b", "models: [m]\npool: {name: q}"),
                resource("GatewayBackend", "c", "models: [o]\nprovider: {name: x, model: z}")))
        .contains(
            "default/p spec.workerSets[0].name ReferenceNotFound: there is no InferenceWorkerSet"
                + " l40 in namespace default",
            "default/b spec.pool.name ReferenceNotFound: there is no InferencePool q in namespace"
                + " default; did you mean p?",
            "default/c spec.provider.name ReferenceNotFound: there is no InferenceProvider x in"
                + " namespace default");
  }

  @Test
  void aReferenceToWhatCouldNotBeReadSaysSo() {
    assertThat(
            problems(
                resource("InferencePool", "qwen", "model: 5\nworkerSets: [{name: l40s}]"), LOCAL))
        .containsExactly(
            "default/qwen-local spec.pool.name ReferenceInvalid: InferencePool qwen has errors of"
                + " its own");
  }

  @Test
  void workersAreUniqueAndHaveAddresses() {
    assertThat(
            problems(
                resource(
                    "InferenceWorkerSet",
                    "l40s",
                    """
                    workers:
                      addresses:
                      - {name: a, address: 127.0.0.1, port: 9001}
                      - {name: a, address: 127.0.0.1, port: 9002}
                      - {name: c, address: 127.0.0.1, port: 9001}
                      - {name: d, address: 300.1.1.1, port: 9001}
                      - {name: e, address: 'http://x', port: 9001}
                      - {name: f, address: 'fd00::1', port: 9001}
                      - {name: g, address: gpu-1.example.com, port: 9001}\
                    """),
                resource(
                    "InferenceWorkerSet",
                    "h100",
                    "workers: {addresses: [{name: a, address: gpu-1.example.com, port: 9001}]}"),
                resource(
                    "InferencePool",
                    "qwen",
                    "model: Qwen/Qwen\nworkerSets: [{name: l40s}, {name: h100}]"),
                LOCAL))
        .containsExactlyInAnyOrder(
            "default/l40s spec.workers.addresses[1].name DuplicateName: worker a is already in"
                + " spec.workers.addresses[0]",
            "default/l40s spec.workers.addresses[2].address DuplicateName: worker 127.0.0.1:9001 is"
                + " already in spec.workers.addresses[0]",
            "default/l40s spec.workers.addresses[3].address InvalidAddress: must be an IP address"
                + " or a host name without scheme and port, got \"300.1.1.1\"",
            "default/l40s spec.workers.addresses[4].address InvalidAddress: must be an IP address"
                + " or a host name without scheme and port, got \"http://x\"",
            "default/qwen spec.workerSets[1].name DuplicateName: worker gpu-1.example.com:9001 is"
                + " in worker set h100 and in l40s: a pool may have it once");
  }

  @Test
  void whatNothingRefersToIsWarnedOf() {
    assertThat(problems(GOOD_SET))
        .containsExactly(
            "default/l40s metadata.name UnusedResource: no InferencePool uses this worker set");
    assertThat(problems(GOOD_PROVIDER))
        .containsExactly(
            "default/openai metadata.name UnusedResource: no GatewayBackend uses this provider");
    assertThat(problems(GOOD_SET, GOOD_POOL))
        .containsExactly(
            "default/qwen metadata.name UnusedResource: no GatewayBackend uses this pool");
  }

  @Test
  void aTokenizerWithoutCacheEventsAndEventsOfAnUnknownEngineAreWarnedOf() {
    assertThat(
            problems(
                GOOD_SET,
                resource(
                    "InferencePool",
                    "qwen",
                    "model: m\nworkerSets: [{name: l40s}]\ntokenizer: {path: /models/m}"),
                resource("GatewayBackend", "b", "models: [m]\npool: {name: qwen}")))
        .containsExactly(
            "default/qwen spec.tokenizer UnusedResource: no worker set of this pool has"
                + " kvEvents.mode ZMQ, without which a tokenizer is of no use");
    assertThat(
            problems(
                resource(
                    "InferenceWorkerSet",
                    "l40s",
                    "engine: OpenAICompatible\nkvEvents: {mode: ZMQ}\n"
                        + "workers: {addresses: [{name: a, address: 10.0.0.1, port: 8000}]}"),
                resource(
                    "InferencePool",
                    "qwen",
                    "model: m\nworkerSets: [{name: l40s}]\ntokenizer: {path: /models/m}"),
                resource("GatewayBackend", "b", "models: [m]\npool: {name: qwen}")))
        .containsExactly(
            "default/l40s spec.kvEvents.mode UnsupportedValue: an engine that is only"
                + " OpenAICompatible is not known to publish cache events");
  }

  @Test
  void aliasesThatClashAreRefused() {
    assertThat(
            problemsOfGoodAnd(
                resource("GatewayBackend", "twin", "models: [qwen-27b, x, x]\npool: {name: qwen}"),
                resource(
                    "GatewayBackend",
                    "r1",
                    "models: [a]\npool: {name: qwen}\nroutes: [{pathPrefix: /a}]"),
                resource(
                    "GatewayBackend",
                    "r2",
                    "models: [b]\npool: {name: qwen}\nroutes: [{pathPrefix: /a, hosts: []}]")))
        .containsExactlyInAnyOrder(
            "default/twin spec.models[0] AliasClash: GatewayBackend qwen-local already sends"
                + " qwen-27b to pool qwen",
            "default/twin spec.models[2] DuplicateName: model x is already in spec.models[1]",
            "default/r2 spec.routes[0] AliasClash: */a already leads to GatewayBackend default/r1");
  }

  @Test
  void aCallerCanBeOneTenantOnly() {
    String keys = "apiKeys: [{secret: {name: s, key: k}}]\n";
    assertThat(
            problemsOfGoodAnd(
                resource("InferenceTenant", "a", keys),
                resource("InferenceTenant", "b", keys + "models: {allow: [qwen-*, gtp-*]}")))
        .containsExactlyInAnyOrder(
            "default/b spec.apiKeys[0] DuplicateIdentity: this API key already belongs to"
                + " InferenceTenant default/a",
            "default/b spec.models.allow[1] NoMatchingModel: gtp-* matches no model of any"
                + " GatewayBackend");
  }

  @Test
  void expressionsCompileWithTheVariablesOfTheirPlace() {
    assertThat(
            problemsOfGoodAnd(
                policy(
                    "p",
                    """
                    match: {condition: 'request.promptTokens <'}
                    constraints: [{name: c, when: 'labels.pii', exclude: 'endpoint.set == "a"'}]
                    route:
                      tiers:
                      - backends: {names: [qwen-local]}
                        endpoints: |
                          endpoint.queuedPrompts < 8 &&
                          endpoint.nme == 'x'\
                    """)))
        .anyMatch(p -> p.startsWith("default/p spec.match.condition InvalidExpression: 1:23: "))
        .contains(
            "default/p spec.constraints[0].when InvalidExpression: 1:1: must be true or false, but"
                + " has type string",
            "default/p spec.constraints[0].exclude InvalidExpression: 1:1: endpoint is not known in"
                + " this field; known are request, tenant, labels, now, backend, pool",
            "default/p spec.route.tiers[0].endpoints InvalidExpression: 2:9: there is no field nme")
        .hasSize(4);
  }

  @Test
  void aRouteNamesBackendsThatExistAndTiersThatCanBeReached() {
    assertThat(
            problemsOfGoodAnd(
                policy(
                    "p",
                    """
                    route:
                      tiers:
                      - backends: {names: [qwen-loca]}
                      - backends: {labels: {tier: none}}
                      - backends: {names: [qwen-local]}
                        endpoints: 'true'
                      - backends: {names: [qwen-local]}
                      - backends: {labels: {tier: standard}}
                      - backends: {labels: {external: 'true'}}\
                    """)))
        .containsExactlyInAnyOrder(
            "default/p spec.route.tiers[0].backends.names[0] UnknownBackend: there is no"
                + " GatewayBackend qwen-loca in namespace default; did you mean qwen-local?",
            "default/p spec.route.tiers[1].backends NoMatchingBackend: no GatewayBackend in"
                + " namespace default is selected",
            "default/p spec.route.tiers[4] UnreachableTier: every backend of this tier is in an"
                + " earlier one without endpoints filter, which decides first");
  }

  @Test
  void aPolicyThatNeverDecidesIsWarnedOf() {
    String route = "route: {tiers: [{backends: {names: [qwen-local]}}]}\n";
    assertThat(
            problemsOfGoodAnd(
                policy("first", "priority: 200\nmatch: {models: ['qwen-*']}\n" + route),
                policy(
                    "hidden", "match: {models: [qwen-27b], condition: request.stream}\n" + route),
                policy("wider", "match: {models: ['q*']}\n" + route),
                policy("shadow", "mode: Shadow\nmatch: {models: [qwen-27b]}\n" + route),
                policy("nobody", "match: {models: [none-*]}\n" + route),
                policy("stranger", "match: {tenants: {names: [team-z]}}\n" + route)))
        .containsExactlyInAnyOrder(
            "default/hidden spec.route UnreachablePolicy: this route never decides: InferencePolicy"
                + " first (priority 200) matches every request that this policy matches, and comes"
                + " first",
            "default/nobody spec.match.models[0] UnreachablePolicy: none-* matches no model of any"
                + " GatewayBackend",
            "default/stranger spec.match.tenants.names[0] UnreachablePolicy: there is no"
                + " InferenceTenant team-z");
  }

  @Test
  void aConstraintThatLeavesNothingLocalIsWarnedOf() {
    String onlyCloud =
        resource(
            "GatewayBackend", "big", "models: [gpt-5]\nprovider: {name: openai, model: gpt-5}");
    assertThat(
            problemsOfGoodAnd(
                onlyCloud,
                policy(
                    "pii",
                    """
                    constraints:
                    - {name: stay, when: "labels.pii != 'absent'", exclude: backend.external}
                    - {name: lit, exclude: "backend.name == 'qwen-local' && request.stream"}\
                    """),
                policy(
                    "narrow",
                    "match: {models: [qwen-27b]}\n"
                        + "constraints: [{name: nothing, exclude: \"backend.labels.tier == 'standard'\"}]")))
        .containsExactlyInAnyOrder(
            "default/pii spec.constraints[0].exclude NoLocalTarget: where this holds, nothing inside"
                + " the cluster is left for gpt-5: such requests are refused, or leave the cluster",
            "default/pii spec.constraints[1].exclude NoLocalTarget: where this holds, nothing inside"
                + " the cluster is left for gpt-5: such requests are refused, or leave the cluster",
            "default/narrow spec.constraints[0].exclude NoLocalTarget: where this holds, nothing"
                + " inside the cluster is left for qwen-27b: such requests are refused, or leave the"
                + " cluster");
  }

  @Test
  void aLabelValueThatItsClassifierNeverGivesIsWarnedOf() {
    String never = "labels.pii is never %s: it is present or absent or unknown%s";
    assertThat(
            problems(
                List.of(
                    GOOD_SET,
                    GOOD_POOL,
                    LOCAL + "  routes: [{pathPrefix: /a, labels: {complexity: huge}}]\n",
                    policy(
                        "p",
                        """
                        match:
                          labels: [{key: pii, in: [present, 'yes']}, {key: tone, in: [any]}]
                          condition: "labels.language == 'klingon' || labels.complexity == 'huge'"
                        constraints:
                        - {name: a, when: "labels.pii == 'presnt'", exclude: "false"}
                        - {name: b, when: "'' != labels['pii']", exclude: "false"}
                        - {name: c, when: "labels.pii in ['absent', 'none']", exclude: "labels.code == 'present'"}
                        route: {tiers: [{backends: {names: [qwen-local]}, endpoints: "labels.complexity != 'hard'"}]}
                        """))))
        .containsExactlyInAnyOrder(
            "default/p spec.match.labels[0].in[1] ImpossibleLabelValue: "
                + never.formatted("yes", ""),
            "default/p spec.constraints[0].when ImpossibleLabelValue: "
                + never.formatted("presnt", "; did you mean present?"),
            "default/p spec.constraints[1].when ImpossibleLabelValue: "
                + never.formatted("empty", ""),
            "default/p spec.constraints[2].when ImpossibleLabelValue: "
                + never.formatted("none", ""),
            "default/p spec.route.tiers[0].endpoints ImpossibleLabelValue: labels.complexity is"
                + " never hard: it is simple or medium or complex or unknown");
  }

  @Test
  void aValueThatATrustedTenantMaySendIsNotWarnedOf() {
    String policy =
        """
        match:
          labels: [{key: complexity, in: [huge]}]
          %s
        constraints:
        - {name: a, when: "labels.pii in ['secret', 'a b', '']", exclude: "false"}
        """;
    String trusted =
        """
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: InferenceTenant
        metadata: {name: trusted%s}
        spec: {%s labels: {team: a}, apiKeys: [{secret: {name: k%s, key: key}}]}
        """;
    String one = trusted.formatted("", "trustLabelHeader: true,", "");
    String none = trusted.formatted("", "", "");
    String elsewhere = trusted.formatted(", namespace: other", "trustLabelHeader: true,", "");
    // No header can hold these.
    String[] unsendable = {"pii is never a b", "pii is never empty"};
    String[] all = {
      "complexity is never huge", "pii is never secret", "pii is never a b", "pii is never empty"
    };

    assertWarned(one, policy.formatted(""), unsendable);
    assertWarned(one, policy.formatted("tenants: {names: [trusted]}"), unsendable);
    assertWarned(one, policy.formatted("tenants: {labels: {team: a}}"), unsendable);
    assertWarned(one, policy.formatted("tenants: {names: [trusted], labels: {team: b}}"), all);
    assertWarned(one, policy.formatted("tenants: {labels: {team: b}}"), all);
    assertWarned(elsewhere, policy.formatted("tenants: {labels: {team: a}}"), unsendable);
    assertWarned(elsewhere, policy.formatted("tenants: {names: [trusted]}"), all);
    assertWarned(none, policy.formatted(""), all);
  }

  private static void assertWarned(String tenant, String policy, String... parts) {
    assertThat(
            problems(List.of(GOOD_SET, GOOD_POOL, LOCAL, tenant, policy("p", policy))).stream()
                .filter(problem -> problem.contains("ImpossibleLabelValue"))
                .map(problem ->
                    problem.replaceFirst(".*labels\\.", "").replaceFirst(": it is .*", "")))
        .containsExactlyInAnyOrder(parts);
  }

  @Test
  void cheapestNeedsPricesOfOneCurrency() {
    assertThat(
            problems(
                List.of(
                    GOOD_SET,
                    GOOD_POOL,
                    GOOD_PROVIDER,
                    LOCAL + "  pricing: {currency: EUR, inputPerMillion: 1, outputPerMillion: 2}\n",
                    CLOUD + "  pricing: {inputPerMillion: 1, outputPerMillion: 2}\n",
                    policy(
                        "p",
                        "route: {choose: Cheapest, tiers: [{backends: {names: [qwen-local,"
                            + " gpt-cloud]}}]}"))))
        .containsExactly(
            "default/p spec.route.tiers[0] MissingPrice: prices in EUR and USD can't be compared for"
                + " Cheapest");
  }

  @Test
  void problemsHaveTheLineOfTheirField() {
    ParsedResources parsed =
        new ResourceParser()
            .parse(
                "p.yaml",
                resource("InferencePool", "p", "model: m\nworkerSets:\n- {name: a}\n- name: b"));

    assertThat(new ResourceValidator().validate(parsed))
        .filteredOn(Problem::isError)
        .extracting(problem -> problem.line() + " " + problem.field())
        .containsExactly("7 spec.workerSets[0].name", "8 spec.workerSets[1].name");
  }

  private static List<String> problemsOfGoodAnd(String... more) {
    List<String> documents = new ArrayList<>(GOOD);
    documents.addAll(List.of(more));
    return problems(documents);
  }

  private static List<String> problems(String... documents) {
    return problems(List.of(documents));
  }

  private static List<String> problems(List<String> documents) {
    ParsedResources parsed =
        new ResourceParser().parse("all.yaml", String.join("---\n", documents));
    assertThat(parsed.problems()).filteredOn(p -> !p.field().equals("spec.model")).isEmpty();
    return new ResourceValidator()
        .validate(parsed).stream()
            .map(p ->
                p.namespace()
                    + "/"
                    + p.name()
                    + " "
                    + p.field()
                    + " "
                    + p.reason()
                    + ": "
                    + p.message())
            .toList();
  }

  private static String policy(String name, String spec) {
    return resource("InferencePolicy", name, spec);
  }

  private static String resource(String kind, String name, String spec) {
    return "apiVersion: inference.warmpath.dev/v1alpha1\nkind: "
        + kind
        + "\nmetadata: {name: "
        + name
        + "}\nspec:\n"
        + spec.strip().indent(2);
  }
}
