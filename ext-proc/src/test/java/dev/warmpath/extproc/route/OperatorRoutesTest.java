package dev.warmpath.extproc.route;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.LocalRef;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OperatorRoutesTest {
  private final List<RoutingConfiguration.Backend> backends = new ArrayList<>();

  private void route(String backend, List<String> hosts, String prefix) {
    backends.add(
        new RoutingConfiguration.Backend(
            new RoutingConfiguration.Id("default", backend, 1),
            new BackendSpec(
                List.of(backend),
                new LocalRef("pool"),
                null,
                Map.of(),
                new BackendSpec.Capabilities(null, true, true),
                null,
                List.of(new BackendSpec.Route(hosts, prefix, null, Map.of())))));
  }

  private OperatorRoutes compiled() {
    RoutingConfiguration empty = RoutingConfiguration.empty();
    return OperatorRoutes.compile(
        new RoutingConfiguration(
            empty.workerSets(),
            empty.pools(),
            empty.providers(),
            backends,
            empty.policies(),
            empty.unavailablePolicies(),
            empty.tenants()));
  }

  private static RequestHead head(String authority, String path) {
    return new RequestHead(
        "id", "request", "POST", path, "q=1", Map.of(":authority", authority), 0);
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      textBlock =
          """
          llm.example.com,      /v1/chat/completions,       exact,    /v1/chat/completions
          LLM.Example.com:8080, /v1/chat/completions,       exact,    /v1/chat/completions
          llm.example.com,      /deep/er/v1/models,         deeper,   /v1/models
          llm.example.com,      /deep/v1/models,            deep,     /v1/models
          llm.example.com,      /deeper/v1/models,          exact,    /deeper/v1/models
          a.example.com,        /v1/models,                 -,        /v1/models
          a.example.com,        /team/v1/models,            wildcard, /v1/models
          a.b.example.com,      /team,                      wildcard, /
          a.b.example.com,      /any/v1/models,             any,      /v1/models
          example.com,          /team/v1/models,            -,        /team/v1/models
          other.org,            /any/v1/models,             any,      /v1/models
          other.org,            /anything/v1/models,        -,        /anything/v1/models
          [::1]:8080,           /v1/models,                 v6,       /v1/models
          """)
  void theMostSpecificHostAndThenTheLongestPrefixDecides(
      String authority, String path, String backend, String stripped) {
    route("any", List.of(), "/any");
    route("wildcard", List.of("*.example.com"), "/team/");
    route("exact", List.of("llm.example.com"), "/");
    route("deep", List.of("llm.example.com"), "/deep");
    route("deeper", List.of("llm.example.com"), "/deep/er");
    route("v6", List.of("::1"), "/");

    RequestHead applied = compiled().applied(head(authority, path));

    OperatorRoute route = applied.route();
    assertThat(route == null ? null : route.models().iterator().next()).isEqualTo(backend);
    assertThat(applied.path()).isEqualTo(stripped);
    assertThat(applied.query()).isEqualTo("q=1");
  }

  @Test
  void withoutRoutesTheHeadStaysAsItIs() {
    RequestHead head = head("llm.example.com", "/v1/models");
    assertThat(compiled().applied(head)).isSameAs(head);
  }
}
