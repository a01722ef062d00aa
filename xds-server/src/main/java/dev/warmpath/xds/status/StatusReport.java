package dev.warmpath.xds.status;

import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.xds.plan.Conditions;
import dev.warmpath.xds.plan.Plan;
import dev.warmpath.xds.serve.GatewayReport;
import dev.warmpath.xds.status.ResourceStatus.Condition;
import dev.warmpath.xds.status.ResourceStatus.Facts;
import dev.warmpath.xds.status.ResourceStatus.Refusal;
import dev.warmpath.xds.status.ResourceStatus.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The standing of every resource that is written, from one plan and the gateways' standings. */
public final class StatusReport {
  public static final String ACCEPTED = "Accepted";
  public static final String RESOLVED_REFS = "ResolvedRefs";
  public static final String PROGRAMMED = "Programmed";
  public static final String READY = "Ready";

  /** Reason of {@link #PROGRAMMED} while a gateway has still to acknowledge. */
  public static final String PENDING = "Pending";

  /** Reason of {@link #PROGRAMMED} where an Envoy does not take what is made of the resource. */
  public static final String REFUSED = "Refused";

  /** Reason of {@link #READY} where there is nobody to do the work. */
  public static final String NO_READY_WORKERS = "NoReadyWorkers";

  private static final int SHOWN_PROBLEMS = 3;

  private final List<Standing> gateways;
  private final Map<Resource.Key, List<Problem>> problems = new HashMap<>();
  private final Map<Resource.Key, Object> wanted;
  private final Map<Resource.Key, Facts> facts;

  private StatusReport(Plan plan, List<Standing> gateways) {
    this.gateways = gateways;
    for (Problem problem : plan.problems()) {
      Resource.Key key = problem.key();
      if (key != null) {
        problems.computeIfAbsent(key, k -> new ArrayList<>()).add(problem);
      }
    }
    wanted = RoutedResources.byKey(plan.routing());
    facts = RoutedResources.facts(plan.routing());
  }

  /** Sorted by kind, namespace and name; of the gateways that are connected here. */
  public static List<ResourceStatus> of(Plan plan, List<GatewayReport> gateways) {
    return ofStandings(plan, standings(plan, gateways));
  }

  /** The connected gateways against the plan in force. */
  public static List<Standing> standings(Plan plan, List<GatewayReport> gateways) {
    Map<Resource.Key, Object> wanted = RoutedResources.byKey(plan.routing());
    return gateways.stream()
        .filter(GatewayReport::isConnected)
        .map(gateway -> Standing.of(wanted, gateway))
        .toList();
  }

  /** Sorted by kind, namespace and name. */
  public static List<ResourceStatus> ofStandings(Plan plan, List<Standing> gateways) {
    StatusReport report = new StatusReport(plan, gateways);
    return new TreeMap<>(plan.states())
        .entrySet().stream().map(e -> report.status(e.getKey(), e.getValue())).toList();
  }

  private ResourceStatus status(Resource.Key key, Plan.State state) {
    List<Problem> own = problems.getOrDefault(key, List.of());
    List<Refusal> refusals = new ArrayList<>();
    for (Standing gateway : gateways) {
      String words = gateway.refusals().get(key);
      if (words != null) {
        refusals.add(new Refusal(gateway.gateway(), words));
      }
    }
    Facts known = facts.getOrDefault(key, Facts.NONE);
    List<Condition> conditions = new ArrayList<>();
    conditions.add(accepted(state, own));
    conditions.add(resolved(own));
    conditions.add(programmed(key, state, refusals));
    conditions.add(ready(conditions, known));
    return new ResourceStatus(
        key,
        state.generation(),
        state.generationInForce(),
        List.copyOf(conditions),
        own,
        refusals,
        known);
  }

  private static Condition accepted(Plan.State state, List<Problem> own) {
    List<Problem> errors =
        own.stream().filter(p -> p.isError() && !Conditions.isAboutReferences(p.reason())).toList();
    boolean accepted = state.acceptance() == Plan.Acceptance.ACCEPTED && errors.isEmpty();
    if (accepted) {
      List<Problem> warnings =
          own.stream()
              .filter(p -> !p.isError() && !Conditions.isAboutReferences(p.reason()))
              .toList();
      String warning = warnings.isEmpty() ? "" : "in force, but: " + sentence(warnings);
      return new Condition(ACCEPTED, Value.True, ACCEPTED, warning);
    }
    Problem first = errors.isEmpty() ? firstError(own) : errors.getFirst();
    String reason = first == null ? "Invalid" : first.reason();
    String note =
        state.acceptance() == Plan.Acceptance.LAST_GOOD
            ? "; generation " + state.generationInForce() + " stays in force"
            : "";
    return new Condition(
        ACCEPTED, Value.False, reason, sentence(errors.isEmpty() ? own : errors) + note);
  }

  private static @Nullable Problem firstError(List<Problem> problems) {
    return problems.stream().filter(Problem::isError).findFirst().orElse(null);
  }

  private static Condition resolved(List<Problem> own) {
    List<Problem> unresolved =
        own.stream().filter(p -> Conditions.isAboutReferences(p.reason())).toList();
    return unresolved.isEmpty()
        ? new Condition(RESOLVED_REFS, Value.True, RESOLVED_REFS, "")
        : new Condition(
            RESOLVED_REFS, Value.False, unresolved.getFirst().reason(), sentence(unresolved));
  }

  private Condition programmed(Resource.Key key, Plan.State state, List<Refusal> refusals) {
    if (gateways.isEmpty()) {
      return new Condition(PROGRAMMED, Value.Unknown, "NoGateway", "no gateway is connected");
    }
    if (state.acceptance() == Plan.Acceptance.REFUSED || !wanted.containsKey(key)) {
      return new Condition(
          PROGRAMMED, Value.False, "NotInForce", "0 of " + gateways.size() + " gateways");
    }
    long done = gateways.stream().filter(gateway -> !gateway.lacks(key)).count();
    String count =
        "generation %d: %d of %d gateways"
            .formatted(state.generationInForce(), done, gateways.size());
    if (!refusals.isEmpty()) {
      Refusal first = refusals.getFirst();
      return new Condition(
          PROGRAMMED,
          Value.False,
          REFUSED,
          count + "; refused by Envoy of " + first.gateway() + ": " + first.reason());
    }
    if (done < gateways.size()) {
      return new Condition(PROGRAMMED, Value.False, PENDING, count);
    }
    return state.acceptance() == Plan.Acceptance.LAST_GOOD
        ? new Condition(PROGRAMMED, Value.False, "LastGoodInForce", count)
        : new Condition(PROGRAMMED, Value.True, PROGRAMMED, count);
  }

  /** The first of the others that does not hold; then whether there is a worker to do the work. */
  private static Condition ready(List<Condition> others, Facts facts) {
    for (Condition other : others) {
      if (other.status() != Value.True) {
        String reason =
            switch (other.type()) {
              case ACCEPTED -> "NotAccepted";
              case RESOLVED_REFS -> "RefsNotResolved";
              default -> other.status() == Value.Unknown ? other.reason() : "NotProgrammed";
            };
        return new Condition(READY, other.status(), reason, "see " + other.type());
      }
    }
    Integer workers = facts.workers();
    Integer ready = facts.ready();
    if (workers != null && ready != null && ready == 0) {
      return new Condition(
          READY,
          Value.False,
          NO_READY_WORKERS,
          workers == 0 ? "no worker was found" : "none of " + workers + " workers is ready");
    }
    return new Condition(
        READY, Value.True, READY, workers == null ? "" : ready + " of " + workers + " workers");
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
