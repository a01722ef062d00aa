package dev.warmpath.xds.status;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.xds.plan.Conditions;
import dev.warmpath.xds.plan.Plan;
import dev.warmpath.xds.serve.GatewayReport;
import dev.warmpath.xds.status.ResourceStatus.Condition;
import dev.warmpath.xds.status.ResourceStatus.Refusal;
import dev.warmpath.xds.status.ResourceStatus.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The standing of every resource that is written, from one plan and the gateways' reports. */
public final class StatusReport {
  private static final int SHOWN_PROBLEMS = 3;

  private final List<GatewayReport> gateways;
  private final Map<Resource.Key, List<Problem>> problems = new HashMap<>();
  private final Map<Resource.Key, Object> wanted;
  private final Map<String, Map<Resource.Key, Object>> routed = new HashMap<>();

  private StatusReport(Plan plan, List<GatewayReport> gateways) {
    this.gateways = gateways.stream().filter(GatewayReport::isConnected).toList();
    for (Problem problem : plan.problems()) {
      Resource.Key key = problem.key();
      if (key != null) {
        problems.computeIfAbsent(key, k -> new ArrayList<>()).add(problem);
      }
    }
    wanted = RoutedResources.byKey(plan.routing());
    for (GatewayReport gateway : this.gateways) {
      RoutingConfiguration routing = gateway.routing();
      routed.put(gateway.nodeId(), routing == null ? Map.of() : RoutedResources.byKey(routing));
    }
  }

  /** Sorted by kind, namespace and name. */
  public static List<ResourceStatus> of(Plan plan, List<GatewayReport> gateways) {
    StatusReport report = new StatusReport(plan, gateways);
    return new TreeMap<>(plan.states())
        .entrySet().stream().map(e -> report.status(e.getKey(), e.getValue())).toList();
  }

  private ResourceStatus status(Resource.Key key, Plan.State state) {
    List<Problem> own = problems.getOrDefault(key, List.of());
    List<Refusal> refusals = new ArrayList<>();
    for (GatewayReport gateway : gateways) {
      gateway
          .refusals()
          .getOrDefault(key, List.of())
          .forEach(reason -> refusals.add(new Refusal(gateway.nodeId(), reason)));
    }
    List<Condition> conditions =
        List.of(accepted(state, own), resolved(own), programmed(key, state, refusals));
    return new ResourceStatus(
        key, state.generation(), state.generationInForce(), conditions, own, refusals);
  }

  private static Condition accepted(Plan.State state, List<Problem> own) {
    List<Problem> errors =
        own.stream().filter(p -> p.isError() && !Conditions.isAboutReferences(p.reason())).toList();
    boolean accepted = state.acceptance() == Plan.Acceptance.ACCEPTED && errors.isEmpty();
    if (accepted) {
      return new Condition("Accepted", Value.True, "Accepted", "");
    }
    Problem first = errors.isEmpty() ? firstError(own) : errors.getFirst();
    String reason = first == null ? "Invalid" : first.reason();
    String note =
        state.acceptance() == Plan.Acceptance.LAST_GOOD
            ? "; generation " + state.generationInForce() + " stays in force"
            : "";
    return new Condition(
        "Accepted", Value.False, reason, sentence(errors.isEmpty() ? own : errors) + note);
  }

  private static @Nullable Problem firstError(List<Problem> problems) {
    return problems.stream().filter(Problem::isError).findFirst().orElse(null);
  }

  private static Condition resolved(List<Problem> own) {
    List<Problem> unresolved =
        own.stream().filter(p -> Conditions.isAboutReferences(p.reason())).toList();
    return unresolved.isEmpty()
        ? new Condition("ResolvedRefs", Value.True, "ResolvedRefs", "")
        : new Condition(
            "ResolvedRefs", Value.False, unresolved.getFirst().reason(), sentence(unresolved));
  }

  private Condition programmed(Resource.Key key, Plan.State state, List<Refusal> refusals) {
    if (gateways.isEmpty()) {
      return new Condition("Programmed", Value.Unknown, "NoGateway", "no gateway is connected");
    }
    long done = gateways.stream().filter(gateway -> has(gateway, key)).count();
    String count = done + " of " + gateways.size() + " gateways";
    if (!refusals.isEmpty()) {
      Refusal first = refusals.getFirst();
      return new Condition(
          "Programmed",
          Value.False,
          "Refused",
          count + "; refused by Envoy of " + first.gateway() + ": " + first.reason());
    }
    if (state.acceptance() == Plan.Acceptance.REFUSED || !wanted.containsKey(key)) {
      return new Condition(
          "Programmed", Value.False, "NotInForce", "0 of " + gateways.size() + " gateways");
    }
    return done == gateways.size()
        ? new Condition("Programmed", Value.True, "Programmed", count)
        : new Condition("Programmed", Value.False, "Pending", count);
  }

  /**
   * Envoy has all of it, and the processor routes by it. A part that isn't connected is not asked.
   */
  private boolean has(GatewayReport gateway, Resource.Key key) {
    if (gateway.pending().getOrDefault(key, 0) > 0) {
      return false;
    }
    Object want = wanted.get(key);
    return want != null
        && (!gateway.processor()
            || want.equals(routed.getOrDefault(gateway.nodeId(), Map.of()).get(key)));
  }

  private static String sentence(List<Problem> problems) {
    StringBuilder text = new StringBuilder();
    for (Problem problem : problems.subList(0, Math.min(SHOWN_PROBLEMS, problems.size()))) {
      if (!text.isEmpty()) {
        text.append("; ");
      }
      if (!problem.field().isEmpty()) {
        text.append(problem.field()).append(": ");
      }
      text.append(problem.message());
    }
    int more = problems.size() - SHOWN_PROBLEMS;
    return more > 0 ? text + "; and " + more + " more" : text.toString();
  }
}
