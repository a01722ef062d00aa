package dev.warmpath.extproc.route;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.extproc.inflight.InFlightRequest;
import dev.warmpath.extproc.label.LabelSource;
import dev.warmpath.extproc.policy.PolicyObserver;
import dev.warmpath.extproc.policy.PolicyPlan;
import dev.warmpath.extproc.policy.PolicyTrace;
import dev.warmpath.extproc.policy.RequestFacts;
import dev.warmpath.extproc.prompt.Tokenizers;
import dev.warmpath.extproc.request.Dialect;
import dev.warmpath.extproc.request.InferenceRequest;
import dev.warmpath.extproc.request.Operation;
import dev.warmpath.extproc.request.ParsedBody;
import dev.warmpath.extproc.request.RequestParser;
import dev.warmpath.extproc.tenant.Identification;
import dev.warmpath.extproc.tenant.Tenant;
import dev.warmpath.extproc.tenant.TenantLimits;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The path of a request, from its bytes to one worker:
 *
 * <pre>
 *   read         body -> fields, spans, and the fingerprint of the prompt
 *   identify     who calls
 *   label        only what a policy asks for, lazily
 *   constrain    policies -> tiers of endpoints that may be used
 *   place        predict every endpoint, pick the earliest first token, reserve: one step
 *   answer       destinations, clusters, and the few bytes of the body that must change
 * </pre>
 *
 * <p>What happens after that (first token, usage, end) goes to the {@link InFlightRequest}. Every
 * decision, refusals too, leaves a record in the {@link DecisionLog}.
 *
 * <p>Thread-safe: holds no state of its own.
 */
public final class RoutingPipeline implements RequestRouter {
  /** Gives the labels of one request. */
  @FunctionalInterface
  public interface Labels {
    LabelSource of(byte[] body, RequestHead head, Tenant tenant);
  }

  private static final String MODELS = "/v1/models";

  private final PoolRouter router;
  private final Labels labels;
  private final DecisionLog log;
  private final InstantSource wallClock;
  private final @Nullable Holding holding;
  private volatile @Nullable Tokenizers tokenizers;
  private final PolicyObserver observer;
  private final TenantLimits limits;

  /** A pipeline in which nothing waits: what can't be decided at once is refused. */
  public RoutingPipeline(
      PoolRouter router, Labels labels, DecisionLog log, InstantSource wallClock) {
    this(
        router,
        labels,
        log,
        wallClock,
        null,
        trace -> {},
        new TenantLimits(router.state.nanoClock));
  }

  /**
   * @param wallClock for records only; decisions use the router's clock
   * @param holding where requests wait for capacity or a label; null where none may
   * @param observer counts what policies did
   * @param limits told of every request; the ends of routed ones are the caller's to tell
   */
  public RoutingPipeline(
      PoolRouter router,
      Labels labels,
      DecisionLog log,
      InstantSource wallClock,
      @Nullable Holding holding,
      PolicyObserver observer,
      TenantLimits limits) {
    this.limits = limits;
    this.holding = holding;
    this.observer = observer;
    this.router = router;
    this.labels = labels;
    this.log = log;
    this.wallClock = wallClock;
  }

  /** From now on prompts of pools with a tokenizer are told in tokens. */
  public void tokenizers(Tokenizers known) {
    tokenizers = known;
  }

  @Override
  public RequestHead arrived(RequestHead head) {
    return router.snapshot().routes().applied(head);
  }

  @Override
  public @Nullable Decision routeHead(RequestHead head) {
    if (!router.snapshot().isInForce()) {
      return reject(head, Refusals.notConfigured(dialect(head)));
    }
    Operation operation = operation(head.path());
    if (operation != null) {
      if (!head.method().equals("POST")) {
        return reject(head, Refusals.wrongMethod(operation.dialect(), head.method(), "POST"));
      }
      Identification who = router.snapshot().tenants().identify(head.headers(), head.identity());
      ApiError refused = Refusals.refused(operation.dialect(), who);
      if (refused == null) {
        refused = BodyForm.refused(operation.dialect(), head);
      }
      return refused == null ? null : reject(head, refused);
    }
    if (isModels(head.path())) {
      return models(head);
    }
    return reject(head, Refusals.unknownPath(dialect(head)));
  }

  private static @Nullable Operation operation(String path) {
    for (Operation operation : Operation.values()) {
      if (operation.path().equals(path)) {
        return operation;
      }
    }
    return null;
  }

  /** The API that a client of a path without a dialect of its own speaks. */
  private static Dialect dialect(RequestHead head) {
    boolean anthropic =
        head.headers().containsKey("anthropic-version")
            || head.path().startsWith(Operation.MESSAGES.path());
    return anthropic ? Dialect.ANTHROPIC : Dialect.OPENAI;
  }

  private Decision models(RequestHead head) {
    Dialect dialect = dialect(head);
    if (!head.method().equals("GET")) {
      return reject(head, Refusals.wrongMethod(dialect, head.method(), "GET"));
    }
    RoutingSnapshot snapshot = router.snapshot();
    Identification who = snapshot.tenants().identify(head.headers(), head.identity());
    ApiError refused = Refusals.refused(dialect, who);
    if (refused != null) {
      return reject(head, refused);
    }
    List<String> names =
        snapshot.policies().models(((Identification.Identified) who).tenant()).stream()
            .filter(name -> isOpen(head, name))
            .toList();
    if (head.path().equals(MODELS)) {
      return dialect == Dialect.OPENAI
          ? ModelList.openAiList(names)
          : ModelList.anthropicList(names);
    }
    String wanted = decoded(head.path().substring(MODELS.length() + 1));
    if (!names.contains(wanted)) {
      return reject(head, Refusals.unknownModel(dialect, wanted));
    }
    return dialect == Dialect.OPENAI
        ? ModelList.openAiModel(wanted)
        : ModelList.anthropicModel(wanted);
  }

  /** A route leads to the models of its backend alone. */
  private static boolean isOpen(RequestHead head, String model) {
    OperatorRoute route = head.route();
    return route == null || route.models().contains(model);
  }

  /** Names with a slash arrive as %2F; a plus is a plus in a path. */
  private static String decoded(String segment) {
    try {
      return URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException malformedEscape) {
      return segment;
    }
  }

  @Override
  public Decision route(RequestHead head, byte[] body) {
    long start = router.state.nanoClock.getAsLong();
    DecisionTrace trace = new DecisionTrace();
    RoutingSnapshot snapshot = router.snapshot();
    trace.head(head, wallClock.instant(), snapshot.version());
    Decision decision = decide(head, body, snapshot, trace);
    trace.took(router.state.nanoClock.getAsLong() - start);
    if (decision instanceof Decision.Deferred deferred) {
      return new Decision.Deferred(
          deferred
              .decision()
              .whenComplete((late, failure) -> {
                if (failure != null) {
                  limits.ended(head.decisionId(), 0);
                }
              })
              .thenApply(late -> recorded(head, late, trace)),
          deferred.maxWaitNanos(),
          deferred.clientGone());
    }
    return recorded(head, decision, trace);
  }

  private Decision recorded(RequestHead head, Decision decision, DecisionTrace trace) {
    switch (decision) {
      case Decision.Rejected rejected -> {
        trace.refused(rejected.error());
        limits.ended(head.decisionId(), 0);
      }
      case Decision.ClientGone gone -> {
        trace.clientGone();
        limits.ended(head.decisionId(), 0);
      }
      case Decision.Routed routed -> {}
      case Decision.Answered answered -> {}
      case Decision.Deferred deferred -> {}
    }
    observer.planned(trace.policy());
    log.add(head.decisionId(), trace::record);
    return decision;
  }

  private Decision decide(
      RequestHead head, byte[] body, RoutingSnapshot snapshot, DecisionTrace trace) {
    Operation operation = operation(head.path());
    if (operation == null) {
      return new Decision.Rejected(Refusals.unknownPath(dialect(head)));
    }
    trace.operation(operation.path());
    Dialect dialect = operation.dialect();
    Identification who = snapshot.tenants().identify(head.headers(), head.identity());
    ApiError refused = Refusals.refused(dialect, who);
    if (refused != null) {
      return new Decision.Rejected(refused);
    }
    Tenant tenant = ((Identification.Identified) who).tenant();
    trace.tenant(tenant.toString());
    OperatorRoute route = head.route();
    String defaultModel = route == null ? null : route.defaultModel();
    return switch (RequestParser.parse(operation, body, defaultModel)) {
      case ParsedBody.Malformed malformed ->
          new Decision.Rejected(Refusals.malformed(dialect, malformed));
      case ParsedBody.Parsed parsed -> {
        trace.request(parsed.request());
        InferenceRequest request = parsed.request();
        if (!isOpen(head, request.model())) {
          yield new Decision.Rejected(Refusals.unknownModel(dialect, request.model()));
        }
        TenantLimits.Reached reached =
            limits.admit(
                head.decisionId(),
                tenant,
                router.promptTokens(request.fingerprint(), request.model()));
        if (reached != null) {
          yield new Decision.Rejected(Refusals.limited(dialect, tenant, reached));
        }
        yield settle(
            new Asked(
                head,
                request,
                body.length,
                tenant,
                labels.of(body, head, tenant),
                trace,
                new TokenView(tokenizers, request.operation(), body)));
      }
    };
  }

  /** A request that is understood; decided once, or several times where it has to wait. */
  private record Asked(
      RequestHead head,
      InferenceRequest request,
      long bytes,
      Tenant tenant,
      LabelSource labels,
      DecisionTrace trace,
      TokenView tokens) {}

  /** One attempt at a decision. */
  private sealed interface Step {
    record Decided(Decision decision) implements Step {}

    /**
     * Nothing may take it now, and its policy lets it wait.
     *
     * @param tooLate the answer when it has waited long enough
     */
    record Wait(String lane, long maxWaitNanos, ApiError tooLate) implements Step {}

    record Labels(PolicyPlan.AwaitLabels plan) implements Step {}
  }

  private Decision settle(Asked asked) {
    Dialect dialect = asked.request().dialect();
    return switch (step(asked, false)) {
      case Step.Decided decided -> decided.decision();
      case Step.Wait wait when holding == null -> new Decision.Rejected(wait.tooLate());
      case Step.Wait wait ->
          holding.hold(
              new Holding.Held(
                  wait.lane(),
                  asked.tenant().toString(),
                  asked.tenant().priority(),
                  router.promptTokens(asked.request().fingerprint(), asked.request().model()),
                  asked.bytes(),
                  wait.maxWaitNanos()),
              () -> step(asked, true) instanceof Step.Decided decided ? decided.decision() : null,
              () -> new Decision.Rejected(wait.tooLate()),
              seconds -> new Decision.Rejected(Refusals.queueFull(dialect, seconds)));
      case Step.Labels waiting when holding == null ->
          new Decision.Rejected(Refusals.labelMissing(dialect));
      case Step.Labels waiting ->
          holding.after(
              waiting.plan().ready().toCompletableFuture(),
              waiting.plan().maxWaitNanos(),
              () -> settle(asked));
    };
  }

  /**
   * Plans by the configuration of this moment, and places.
   *
   * @param released it has waited for its turn; nobody goes before it
   */
  private Step step(Asked asked, boolean released) {
    RequestHead head = asked.head();
    InferenceRequest request = asked.request();
    DecisionTrace trace = asked.trace();
    RoutingSnapshot snapshot = router.snapshot();
    trace.head(head, wallClock.instant(), snapshot.version());
    PolicyPlan plan =
        snapshot
            .policies()
            .plan(
                facts(head, request, asked.tenant()),
                asked.tenant(),
                asked.labels(),
                new PoolStates(router.state, snapshot, request.fingerprint()));
    trace.policy(plan.trace());
    Dialect dialect = request.dialect();
    return switch (plan) {
      case PolicyPlan.Candidates candidates -> {
        String lane = lane(request, candidates.trace());
        if (!released
            && candidates.saturatedMaxWaitNanos() > 0
            && holding != null
            && holding.isWaiting(lane, asked.tenant().priority())) {
          yield new Step.Wait(
              lane, candidates.saturatedMaxWaitNanos(), Refusals.behindOthers(dialect, 1));
        }
        yield place(head, asked, candidates, lane, snapshot, released);
      }
      case PolicyPlan.UnknownModel unknown ->
          refuse(Refusals.unknownModel(dialect, request.model()));
      case PolicyPlan.FailClosed closed ->
          refuse(Refusals.policyUnavailable(dialect, closed.message()));
      case PolicyPlan.NoCandidate none -> {
        ApiError error =
            Refusals.noCandidate(
                dialect, none.status(), none.code(), none.message(), none.retryAfterSeconds());
        yield switch (none.action()) {
          case Reject -> refuse(error);
          case Queue -> new Step.Wait(lane(request, none.trace()), none.maxWaitNanos(), error);
        };
      }
      case PolicyPlan.AwaitLabels waiting -> new Step.Labels(waiting);
    };
  }

  private static Step refuse(ApiError error) {
    return new Step.Decided(new Decision.Rejected(error));
  }

  /** Requests of one policy and model wait for the same thing. */
  private static String lane(InferenceRequest request, PolicyTrace trace) {
    RoutingConfiguration.Id policy =
        trace.decidedBy() != null || trace.matched().isEmpty()
            ? trace.decidedBy()
            : trace.matched().getFirst();
    return (policy == null ? "" : policy.namespace() + "/" + policy.name())
        + '\n'
        + request.model();
  }

  private RequestFacts facts(RequestHead head, InferenceRequest request, Tenant tenant) {
    Integer maxTokens = request.maxTokens();
    return new RequestFacts(
        request.model(),
        head.path(),
        request.dialect(),
        router.promptTokens(request.fingerprint(), request.model()),
        maxTokens == null ? 0 : maxTokens,
        request.stream(),
        request.tools(),
        request.images(),
        tenant.priority(),
        head.headers());
  }

  private Step place(
      RequestHead head,
      Asked asked,
      PolicyPlan.Candidates candidates,
      String lane,
      RoutingSnapshot snapshot,
      boolean released) {
    InferenceRequest request = asked.request();
    DecisionTrace trace = asked.trace();
    List<List<Target>> tiers = tiers(candidates, snapshot);
    Placement.Prompt prompt =
        new Placement.Prompt(
            head.decisionId(),
            request.fingerprint(),
            request.stream(),
            tiers,
            candidates.choose(),
            candidates.ttftSlackNanos(),
            asked.tokens().of(tiers, router));
    return switch (router.place(prompt, trace)) {
      case Placement.Placed placed -> {
        Decision.Routed routed = answer(request, placed, trace);
        // Those that have waited are released one after the other anyway.
        yield new Step.Decided(
            holding == null || released || placed.waitNanos() == 0
                ? routed
                : holding.later(routed, placed.waitNanos()));
      }
      case Placement.Saturated saturated -> {
        ApiError error =
            Refusals.saturated(request.dialect(), tiers, saturated.retryAfterSeconds());
        yield candidates.saturatedMaxWaitNanos() > 0
            ? new Step.Wait(lane, candidates.saturatedMaxWaitNanos(), error)
            : refuse(error);
      }
      case Placement.Nowhere nowhere ->
          refuse(Refusals.noWorker(request.dialect(), request.model()));
    };
  }

  private static List<List<Target>> tiers(
      PolicyPlan.Candidates candidates, RoutingSnapshot snapshot) {
    List<List<Target>> tiers = new ArrayList<>(candidates.tiers().size());
    for (PolicyPlan.Tier tier : candidates.tiers()) {
      List<Target> targets = new ArrayList<>(tier.candidates().size());
      for (PolicyPlan.Candidate candidate : tier.candidates()) {
        String cluster = candidate.backend().clusterName();
        BackendSpec.Pricing pricing = candidate.backend().pricing();
        targets.add(
            new Target(
                candidate.backend().name(),
                cluster,
                candidate.backend().upstreamModel(),
                snapshot.pool(cluster),
                snapshot.provider(cluster),
                candidate.endpoints()::contains,
                pricing == null ? Double.NaN : pricing.inputPerMillion().doubleValue()));
      }
      tiers.add(targets);
    }
    return tiers;
  }

  private Decision.Routed answer(
      InferenceRequest request, Placement.Placed placed, DecisionTrace trace) {
    String model = placed.targets().getFirst().upstreamModel();
    trace.chosen(model, router.promptTokens(request.fingerprint(), model));
    BodyEdits body = BodyEdits.of(request, placed.targets());
    return new Decision.Routed(
        placed.request(),
        placed.destinations(),
        placed.clusters(),
        body.edits(),
        body.asksForUsage(),
        body.modelNames());
  }

  private Decision reject(RequestHead head, ApiError error) {
    unread(head, error);
    return new Decision.Rejected(error);
  }

  @Override
  public void undecided(RequestHead head, @Nullable ApiError error) {
    unread(head, error);
    limits.ended(head.decisionId(), 0);
  }

  /** The record of a request whose body was not read; null: its client has left. */
  private void unread(RequestHead head, @Nullable ApiError error) {
    DecisionTrace trace = new DecisionTrace();
    trace.head(head, wallClock.instant(), router.snapshot().version());
    // Of other paths nothing is kept: they hold whatever a client wrote there.
    Operation operation = operation(head.path());
    if (operation != null) {
      trace.operation(operation.path());
    } else if (isModels(head.path())) {
      trace.operation(MODELS);
    }
    if (error == null) {
      trace.clientGone();
    } else {
      trace.refused(error);
    }
    log.add(head.decisionId(), trace::record);
  }

  private static boolean isModels(String path) {
    return path.equals(MODELS) || path.startsWith(MODELS + "/");
  }

  @Override
  public @Nullable InFlightRequest inFlight(String decisionId) {
    return router.inFlight(decisionId);
  }
}
