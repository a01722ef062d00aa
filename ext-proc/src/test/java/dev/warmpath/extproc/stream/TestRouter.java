package dev.warmpath.extproc.stream;

import dev.warmpath.extproc.inflight.InFlightRequest;
import dev.warmpath.extproc.route.ApiError;
import dev.warmpath.extproc.route.BodyEdit;
import dev.warmpath.extproc.route.Decision;
import dev.warmpath.extproc.route.RequestHead;
import dev.warmpath.extproc.route.RequestRouter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A router whose answers a test sets, and which remembers what it was asked. */
final class TestRouter implements RequestRouter {
  static final List<String> TWO_WORKERS = List.of("10.0.0.1:8000", "10.0.0.2:8000");

  final Map<String, RecordedRequest> requests = new ConcurrentHashMap<>();
  final ConcurrentLinkedQueue<RequestHead> heads = new ConcurrentLinkedQueue<>();

  /** What ended without a decision: the code of the error, or {@code left}. */
  final ConcurrentLinkedQueue<String> undecided = new ConcurrentLinkedQueue<>();

  volatile Function<RequestHead, @Nullable Decision> onHead = head -> null;
  volatile BiFunction<RequestHead, byte[], Decision> onBody = (head, body) -> routed(head);
  volatile byte @Nullable [] lastBody;

  @Override
  public @Nullable Decision routeHead(RequestHead head) {
    heads.add(head);
    return onHead.apply(head);
  }

  @Override
  public Decision route(RequestHead head, byte[] body) {
    lastBody = body;
    return onBody.apply(head, body);
  }

  @Override
  public void undecided(RequestHead head, @Nullable ApiError error) {
    undecided.add(error == null ? "left" : error.code());
  }

  @Override
  public @Nullable InFlightRequest inFlight(String decisionId) {
    return requests.get(decisionId);
  }

  Decision.Routed routed(RequestHead head, BodyEdit... edits) {
    return new Decision.Routed(
        start(head.decisionId()),
        TWO_WORKERS,
        List.of("pool/default/qwen"),
        List.of(edits),
        edits.length > 0);
  }

  RecordedRequest start(String decisionId) {
    return requests.computeIfAbsent(decisionId, RecordedRequest::new);
  }

  /** The only request so far. */
  RecordedRequest onlyRequest() {
    return requests.values().iterator().next();
  }

  /** Remembers every event. */
  static final class RecordedRequest implements InFlightRequest {
    final ConcurrentLinkedQueue<String> events = new ConcurrentLinkedQueue<>();
    private final String id;

    RecordedRequest(String id) {
      this.id = id;
    }

    @Override
    public String decisionId() {
      return id;
    }

    @Override
    public void attempted(String upstreamAddress, int attempt) {
      events.add("attempted " + upstreamAddress + " " + attempt);
    }

    @Override
    public void firstToken(long atNanos) {
      events.add("first token");
    }

    @Override
    public void usage(Usage usage) {
      events.add(
          "usage "
              + usage.promptTokens()
              + " "
              + usage.cachedTokens()
              + " "
              + usage.completionTokens());
    }

    @Override
    public void ended(Outcome outcome, long atNanos) {
      events.add("ended " + outcome);
    }
  }
}
