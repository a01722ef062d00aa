package dev.warmpath.crds.v1alpha1;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rules over tenant, requested model, labels and cluster state: constraints first, then ordered
 * candidates.
 */
@ValidationRule(
    value = "has(self.route) || (has(self.constraints) && size(self.constraints) > 0)",
    message = "a policy needs a route or constraints: this one has no effect")
@ValidationRule(
    value =
        "!has(self.constraints) || self.constraints.all(c, self.constraints.exists_one(d, d.name =="
            + " c.name))",
    message = "names of constraints must differ",
    fieldPath = ".constraints")
public record PolicySpec(
    @Default("100")
        @Min(0)
        @Max(1000)
        @JsonPropertyDescription(
            "Order among policies, 0 to 1000: the highest that matches and has a route decides; equal"
                + " ones go by name. Default 100.")
        int priority,
    @Default("Enforce")
        @JsonPropertyDescription(
            "Enforce: in force. Shadow: evaluated and recorded in the decision, without effect."
                + " Default Enforce.")
        Mode mode,
    @Default("{}")
        @JsonPropertyDescription("Which requests the policy is for. Absent: every request.")
        Match match,
    @Size(max = 16)
        @JsonPropertyDescription(
            "What may not be used. Holds for the choice and for every retry and fallback after it; no"
                + " other policy can widen it.")
        List<Constraint> constraints,
    @JsonPropertyDescription("Where matching requests go. Absent: as without this policy.")
        @Nullable Route route,
    @Default("{}") @JsonPropertyDescription("What happens when nothing is left to choose from.")
        OnNoCandidate onNoCandidate) {

  public enum Mode {
    Enforce,
    Shadow
  }

  /** Every part given must hold; none given matches every request. */
  public record Match(
      @Size(max = 64)
          @JsonPropertyDescription(
              "Globs (* and ?) over the requested model name. Empty: every model.")
          List<@Size(min = 1, max = 253) String> models,
      @JsonPropertyDescription("Which tenants. Absent: every tenant.")
          @Nullable TenantMatch tenants,
      @Size(max = 16) @JsonPropertyDescription("Labels of the request, all of which must hold.")
          List<LabelMatch> labels,
      @Size(min = 1, max = 4096)
          @JsonPropertyDescription(
              "CEL expression that must be true, over request, tenant, labels and now. An error counts"
                  + " as false.")
          @Nullable String condition) {}

  @ValidationRule(
      value =
          "(has(self.names) && size(self.names) > 0) || (has(self.labels) && size(self.labels) > 0)",
      message = "names or labels must be set: this matches no tenant")
  public record TenantMatch(
      @Size(max = 256)
          @JsonPropertyDescription("Names of tenants, any of which may hold. Empty: every name.")
          List<@Size(min = 1, max = 253) String> names,
      @Size(max = 32) @JsonPropertyDescription("Labels that the tenant must have, all of them.")
          Map<String, String> labels) {}

  public record LabelMatch(
      @Required
          @Size(min = 1, max = 63)
          @JsonPropertyDescription("Name of the label, for example pii or complexity.")
          String key,
      @Required
          @Size(min = 1, max = 32)
          @JsonPropertyDescription(
              "Values, any of which may hold. A label that could not be found out has the value"
                  + " unknown.")
          List<@Size(min = 1, max = 63) String> in) {}

  /** Cuts the candidate set, for the choice and every retry and fallback after it. */
  public record Constraint(
      @Required
          @Size(min = 1, max = 63)
          @JsonPropertyDescription("Name, shown in errors and decisions; unique inside the policy.")
          String name,
      @Default("true")
          @Size(min = 1, max = 4096)
          @JsonPropertyDescription(
              "CEL expression that says whether the constraint holds for a request, over request,"
                  + " tenant, labels and now. An error counts as true. Default true.")
          String when,
      @Required
          @Size(min = 1, max = 4096)
          @JsonPropertyDescription(
              "CEL expression that says whether a candidate is cut, over the same and backend. An"
                  + " error counts as true.")
          String exclude,
      @Default("not allowed by policy")
          @Size(min = 1, max = 1024)
          @JsonPropertyDescription(
              "Told to the client when nothing is left. Default: not allowed by policy.")
          String message) {}

  public record Route(
      @Required
          @Size(min = 1, max = 16)
          @JsonPropertyDescription("Ordered: the first tier with an eligible endpoint decides.")
          List<Tier> tiers,
      @Default("PredictedTTFT")
          @JsonPropertyDescription(
              "How one is chosen inside a tier. PredictedTTFT: the earliest first token. Cheapest: the"
                  + " lowest price of those within ttftSlack of the earliest. Order: as listed. Default"
                  + " PredictedTTFT.")
          Choose choose,
      @Default("200ms")
          @SchemaFrom(type = String.class)
          @Pattern(Durations.PATTERN)
          @JsonPropertyDescription(
              "How much later than the earliest a cheaper one may be, for Cheapest. Duration. Default"
                  + " 200ms.")
          Duration ttftSlack) {}

  public record Tier(
      @Required @JsonPropertyDescription("Backends of this tier.") BackendSelector backends,
      @Size(min = 1, max = 4096)
          @JsonPropertyDescription(
              "CEL expression that an endpoint must satisfy, over request, tenant, labels, now,"
                  + " backend, pool and endpoint. An error counts as false. Absent: every endpoint.")
          @Nullable String endpoints) {}

  /** Backends by name, by label, or both (then both must hold). */
  @ValidationRule(
      value =
          "(has(self.names) && size(self.names) > 0) || (has(self.labels) && size(self.labels) > 0)",
      message = "names or labels must be set: this selects no backend")
  public record BackendSelector(
      @Size(max = 64)
          @JsonPropertyDescription(
              "Names of GatewayBackends in the same namespace, any of which may hold. Empty: every"
                  + " name.")
          List<@Size(min = 1, max = 253) String> names,
      @Size(max = 32)
          @JsonPropertyDescription(
              "Labels that the backend must have, all of them; external is true for providers.")
          Map<String, String> labels) {}

  public enum Choose {
    PredictedTTFT,
    Cheapest,
    Order
  }

  @ValidationRule(
      value = "!has(self.retryAfter) || duration(self.retryAfter) >= duration('1s')",
      message = "retryAfter must be at least 1s",
      fieldPath = ".retryAfter")
  @ValidationRule(
      value =
          "!has(self.action) || self.action != 'Queue' || !has(self.maxWait) || duration(self.maxWait) > duration('0s')",
      message = "maxWait must be longer than 0s for action Queue",
      fieldPath = ".maxWait")
  public record OnNoCandidate(
      @Default("Reject")
          @JsonPropertyDescription(
              "Reject: answer at once with status. Queue: wait for a candidate for at most maxWait,"
                  + " then answer with status. Default Reject.")
          Action action,
      @Default("503")
          @Min(400)
          @Max(599)
          @JsonPropertyDescription("HTTP status of the refusal, 400 to 599. Default 503.")
          int status,
      @Default("5s")
          @SchemaFrom(type = String.class)
          @Pattern(Durations.PATTERN)
          @JsonPropertyDescription(
              "Retry-After of the refusal. Duration of whole seconds, at least 1s. Default 5s.")
          @Nullable Duration retryAfter,
      @Default("60s")
          @SchemaFrom(type = String.class)
          @Pattern(Durations.PATTERN)
          @JsonPropertyDescription("Longest wait of action Queue. Duration. Default 60s.")
          @Nullable Duration maxWait) {
    public enum Action {
      Reject,
      Queue
    }
  }
}
