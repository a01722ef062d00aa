package dev.warmpath.extproc.policy.review;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.extproc.policy.PolicyPlan;
import dev.warmpath.extproc.policy.PolicyTrace;
import dev.warmpath.extproc.policy.RequestFacts;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a sample request met.
 *
 * @param chosen the backend that is tried first; null where there is none
 */
public record ReviewedRequest(
    String tenant, RequestFacts request, PolicyPlan plan, @Nullable String chosen) {

  /** One line: where it goes, or why not; equal lines are equal outcomes. */
  public String outcome() {
    return switch (plan) {
      case PolicyPlan.Candidates candidates -> {
        List<String> tiers = candidates.tiers().stream().map(ReviewedRequest::names).toList();
        yield chosen + " of " + String.join(", then ", tiers);
      }
      case PolicyPlan.UnknownModel unknown -> "404 model_not_found";
      case PolicyPlan.FailClosed closed -> "503 policy_unavailable";
      case PolicyPlan.NoCandidate none ->
          switch (none.action()) {
            case Queue -> "queued";
            case Reject -> none.status() + " " + none.code();
          };
      case PolicyPlan.AwaitLabels waiting -> "waits for a label";
    };
  }

  private static String names(PolicyPlan.Tier tier) {
    return tier.candidates().stream()
        .map(candidate -> candidate.backend().name())
        .collect(Collectors.joining(" or "));
  }

  /** Everything about it, for reading. */
  public List<String> lines() {
    PolicyTrace trace = plan.trace();
    List<String> lines = new ArrayList<>();
    lines.add("tenant    " + tenant);
    lines.add("model     " + request.model() + ", about " + request.promptTokens() + " tokens");
    trace
        .labels()
        .forEach((key, label) ->
            lines.add(
                "label     "
                    + key
                    + " = "
                    + label.value()
                    + (label.kinds().isEmpty() ? "" : " " + label.kinds())
                    + (label.reason() == null ? "" : " (" + label.reason() + ")")));
    for (RoutingConfiguration.Id id : trace.matched()) {
      lines.add(
          "matched   "
              + name(id)
              + (id.equals(trace.decidedBy()) ? ", and its route decides" : ""));
    }
    if (trace.decidedBy() == null) {
      lines.add("route     the default: pool backends with that name");
    }
    for (PolicyTrace.Removal removal : trace.removals()) {
      RoutingConfiguration.Id by = removal.by();
      lines.add(
          "removed   tier "
              + (removal.tier() + 1)
              + ": "
              + removal.backend().name()
              + ", "
              + removal.cause().name().toLowerCase(Locale.ROOT).replace('_', ' ')
              + (by == null ? "" : " of " + by.name())
              + (removal.detail().isEmpty() ? "" : ": " + removal.detail()));
    }
    for (PolicyTrace.Failure failure : trace.failures()) {
      lines.add(
          "failed    "
              + failure.site()
              + " of "
              + failure.policy().name()
              + ": "
              + failure.message());
    }
    for (PolicyTrace.Shadow shadow : trace.shadows()) {
      lines.add("shadow    " + name(shadow.policy()) + ": " + shadow.outcome());
    }
    switch (plan) {
      case PolicyPlan.Candidates candidates -> {
        for (PolicyPlan.Tier tier : candidates.tiers()) {
          lines.add("plan      tier " + (tier.index() + 1) + ": " + names(tier));
        }
        lines.add("chosen    " + chosen + " (" + candidates.choose() + ")");
      }
      case PolicyPlan.NoCandidate none -> {
        lines.add("plan      " + outcome());
        lines.add("message   " + none.message());
      }
      case PolicyPlan.FailClosed closed -> {
        lines.add("plan      " + outcome());
        lines.add("message   " + closed.message());
      }
      case PolicyPlan.UnknownModel unknown -> lines.add("plan      " + outcome());
      case PolicyPlan.AwaitLabels waiting -> lines.add("plan      " + outcome());
    }
    return lines;
  }

  private static String name(RoutingConfiguration.Id id) {
    return id.name() + (id.generation() > 0 ? " (generation " + id.generation() + ")" : "");
  }
}
