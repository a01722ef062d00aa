package dev.warmpath.extproc.policy.review;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.extproc.label.Classifiers;
import dev.warmpath.extproc.label.Label;
import dev.warmpath.extproc.label.LabelSource;
import dev.warmpath.extproc.policy.ClusterState;
import dev.warmpath.extproc.policy.PolicyPlan;
import dev.warmpath.extproc.policy.PolicySnapshot;
import dev.warmpath.extproc.policy.RequestFacts;
import dev.warmpath.extproc.request.InferenceRequest;
import dev.warmpath.extproc.request.Operation;
import dev.warmpath.extproc.request.ParsedBody;
import dev.warmpath.extproc.request.RequestParser;
import dev.warmpath.extproc.tenant.Tenant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Plans sample requests by a configuration, with the gateway's own reading, classifiers and
 * policies. Immutable and thread-safe.
 */
public final class PolicyReview {
  /** Tokens of a byte of prompt, before anything was learnt. */
  private static final double TOKENS_PER_BYTE = 0.25;

  private final PolicySnapshot policies;
  private final List<Tenant> tenants;
  private final Classifiers classifiers;
  private final SortedSet<String> backends;
  private final SortedSet<String> policyNames;

  public PolicyReview(
      RoutingConfiguration configuration, Classifiers classifiers, InstantSource wallClock) {
    this.policies = PolicySnapshot.compile(configuration, wallClock);
    this.tenants = configuration.tenants().stream().map(Tenant::of).toList();
    this.classifiers = classifiers;
    this.backends =
        configuration.backends().stream()
            .map(backend -> backend.id().name())
            .collect(Collectors.toCollection(TreeSet::new));
    this.policyNames =
        configuration.policies().stream()
            .map(policy -> policy.id().name())
            .collect(Collectors.toCollection(TreeSet::new));
  }

  /**
   * Refuses an expectation about a backend or policy that is not there, which could hold or fail
   * only by mistake.
   *
   * @throws IllegalArgumentException naming those that are there
   */
  public void check(Expectation expectation) {
    boolean named =
        expectation.subject() == Expectation.Subject.BACKEND
            || expectation.subject() == Expectation.Subject.NEVER;
    boolean none =
        expectation.subject() == Expectation.Subject.BACKEND && expectation.value().equals("none");
    if (named && !none && !backends.contains(expectation.value())) {
      throw new IllegalArgumentException(
          "there is no backend '%s' to expect anything of; there are: %s"
              .formatted(expectation.value(), names(backends)));
    }
    if (expectation.subject() == Expectation.Subject.POLICY
        && !expectation.value().equals("default")
        && !policyNames.contains(expectation.value())) {
      throw new IllegalArgumentException(
          "there is no policy '%s' to expect anything of; there are: %s, and default"
              .formatted(expectation.value(), names(policyNames)));
    }
  }

  /**
   * What that request would meet in that state.
   *
   * @throws IllegalArgumentException if the request can't be read or the tenant does not exist
   */
  public ReviewedRequest review(SampleRequest sample, SampleState state) {
    InferenceRequest request = read(sample);
    Tenant tenant = tenant(sample.tenant());
    LabelSource computed = classifiers.of(sample.body(), sample.headers(), tenant);
    LabelSource labels =
        key -> {
          String given = state.labels().get(key);
          return given == null
              ? computed.label(key)
              : new Label(given, Label.Source.HEADER, List.of(), null, 0);
        };
    Integer maxTokens = request.maxTokens();
    RequestFacts facts =
        new RequestFacts(
            request.model(),
            sample.path(),
            request.dialect(),
            request.fingerprint().tokens(TOKENS_PER_BYTE),
            maxTokens == null ? 0 : maxTokens,
            request.stream(),
            request.tools(),
            request.images(),
            tenant.priority(),
            sample.headers());
    ClusterState cluster = state.clusterState();
    PolicyPlan plan = policies.plan(facts, tenant, labels, cluster);
    return new ReviewedRequest(tenant.toString(), facts, plan, Choice.of(plan, facts, cluster));
  }

  private static InferenceRequest read(SampleRequest sample) {
    for (Operation operation : Operation.values()) {
      if (operation.path().equals(sample.path())) {
        return switch (RequestParser.parse(operation, sample.body())) {
          case ParsedBody.Parsed parsed -> parsed.request();
          case ParsedBody.Malformed malformed ->
              throw new IllegalArgumentException("request: " + malformed.message());
        };
      }
    }
    throw new IllegalArgumentException("the gateway does not serve path '" + sample.path() + "'");
  }

  private Tenant tenant(@org.jspecify.annotations.Nullable String name) {
    if (name == null) {
      return Tenant.ANONYMOUS;
    }
    List<String> known = new ArrayList<>();
    for (Tenant tenant : tenants) {
      if (tenant.toString().equals(name) || tenant.name().equals(name)) {
        return tenant;
      }
      known.add(tenant.toString());
    }
    if (name.equals(Tenant.ANONYMOUS.name())) {
      return Tenant.ANONYMOUS;
    }
    throw new IllegalArgumentException(
        "no tenant '"
            + name
            + "'; "
            + (known.isEmpty()
                ? "the configuration has none: leave the tenant out"
                : "there are: " + String.join(", ", known)));
  }

  private static String names(Collection<String> names) {
    return names.isEmpty() ? "none" : String.join(", ", names);
  }
}
