package dev.warmpath.crds.v1alpha1;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A target that a request can be sent to: names that clients ask for, and the pool or provider that
 * serves them.
 */
@ValidationRule(
    value = "has(self.pool) != has(self.provider)",
    message = "exactly one of pool and provider must be set")
@ValidationRule(
    value = "self.models.all(m, !m.contains('*') && !m.contains('?'))",
    message = "models are exact names: a glob is not allowed here",
    fieldPath = ".models")
@ValidationRule(
    value = "!has(self.labels) || !('external' in self.labels)",
    message = "the label external is set by the gateway and can't be written",
    fieldPath = ".labels")
@ValidationRule(
    value =
        "!has(self.routes) || self.routes.all(r, !has(r.defaultModel) || r.defaultModel in"
            + " self.models)",
    message = "defaultModel of a route must be one of models",
    fieldPath = ".routes")
public record BackendSpec(
    @Required
        @Size(min = 1, max = 64)
        @JsonPropertyDescription(
            "Names that clients ask for. Exact names, no globs; aliases are just more names.")
        List<@Size(min = 1, max = 253) String> models,
    @JsonPropertyDescription("The InferencePool that serves these models.") @Nullable LocalRef pool,
    @JsonPropertyDescription("The InferenceProvider and its model that serve these models.")
        @Nullable ProviderTarget provider,
    @Size(max = 32)
        @JsonPropertyDescription(
            "Free labels that policies select by. The label external is set by the gateway: true for"
                + " a provider, false for a pool.")
        Map<String, String> labels,
    @Default("{}")
        @JsonPropertyDescription(
            "What the model can do. A request that needs what is missing is not sent here.")
        Capabilities capabilities,
    @JsonPropertyDescription(
            "Prices, for cost reports, budgets and the Cheapest choice. Absent: cost is unknown.")
        @Nullable Pricing pricing,
    @Size(max = 16)
        @JsonPropertyDescription(
            "Host and path prefixes of the operator's that lead to these models.")
        List<Route> routes) {

  public record ProviderTarget(
      @Required
          @Size(min = 1, max = 253)
          @JsonPropertyDescription("Name of an InferenceProvider in the same namespace.")
          String name,
      @Required
          @Size(min = 1, max = 253)
          @JsonPropertyDescription(
              "Name of the model at the provider; requests are rewritten to it.")
          String model) {}

  /** Absent {@code contextTokens} means unknown, so it excludes nothing. */
  public record Capabilities(
      @Min(1)
          @JsonPropertyDescription(
              "Most tokens of prompt and answer together. Absent: unknown, so no request is kept away"
                  + " for its size.")
          @Nullable Integer contextTokens,
      @Default("true")
          @JsonPropertyDescription("Whether requests with tools may be sent here. Default true.")
          boolean tools,
      @Default("true")
          @JsonPropertyDescription("Whether requests with images may be sent here. Default true.")
          boolean vision) {}

  /** Prices for one million tokens. */
  public record Pricing(
      @Default("USD")
          @Pattern("^[A-Z]{3}$")
          @JsonPropertyDescription("Currency as three capital letters (ISO 4217). Default USD.")
          String currency,
      @Required @Min(0) @JsonPropertyDescription("Price of one million prompt tokens.")
          BigDecimal inputPerMillion,
      @Min(0)
          @JsonPropertyDescription(
              "Price of one million prompt tokens read from cache. Absent: as inputPerMillion.")
          @Nullable BigDecimal cachedInputPerMillion,
      @Required @Min(0) @JsonPropertyDescription("Price of one million generated tokens.")
          BigDecimal outputPerMillion) {}

  /** A host and path prefix of the operator's that leads to this backend's models. */
  @ValidationRule(
      value = "(has(self.hosts) && size(self.hosts) > 0) || self.pathPrefix != '/'",
      message = "a route needs hosts or a pathPrefix other than /")
  @ValidationRule(
      value =
          "!(self.pathPrefix + '/').startsWith('/v1/') && !(self.pathPrefix +"
              + " '/').startsWith('/health/')",
      message = "pathPrefix must not begin with /v1 or /health, which are the API's own paths",
      fieldPath = ".pathPrefix")
  @ValidationRule(
      value =
          "!self.pathPrefix.contains('//') && !(self.pathPrefix + '/').contains('/./') &&"
              + " !(self.pathPrefix + '/').contains('/../')",
      message = "pathPrefix must not contain // or a segment that is . or ..",
      fieldPath = ".pathPrefix")
  public record Route(
      @Size(max = 16)
          @JsonPropertyDescription(
              "Hosts that the route is for, such as llm.example.com or *.example.com. Empty: every"
                  + " host.")
          List<@Size(min = 1, max = 253) String> hosts,
      @Default("/")
          @Size(min = 1, max = 253)
          @Pattern("^/[A-Za-z0-9/._~-]*$")
          @JsonPropertyDescription(
              "Path prefix in front of the API's own path; it is removed before the request goes on."
                  + " Default /.")
          String pathPrefix,
      @Size(min = 1, max = 253)
          @JsonPropertyDescription(
              "Model of a request that names none; one of models. Absent: such a request is refused.")
          @Nullable String defaultModel,
      @Size(max = 32) @JsonPropertyDescription("Labels given to every request that comes this way.")
          Map<String, String> labels) {}
}
