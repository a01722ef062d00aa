package dev.warmpath.extproc.stream;

import dev.warmpath.extproc.inflight.InFlightRequest;
import dev.warmpath.extproc.response.FirstEventScanner;
import dev.warmpath.extproc.wire.EnvoyMessage;
import dev.warmpath.extproc.wire.ResponseHead;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import org.jspecify.annotations.Nullable;

/**
 * The begin of one response, seen in observability mode: which upstream answered, and when its
 * first token passed. Nothing is answered; the stream is completed as soon as nothing more can be
 * learnt, so that the rest of the response never crosses this process. How the request ends is the
 * access log's news.
 */
final class WatchExchange implements Exchange {
  private final StreamContext context;
  private final Answers answers;

  /** Null until the headers of an event stream were seen. */
  private @Nullable InFlightRequest request;

  private final FirstEventScanner scanner = new FirstEventScanner();
  private boolean finished;

  WatchExchange(StreamContext context, Answers answers) {
    this.context = context;
    this.answers = answers;
  }

  @Override
  public void onMessage(EnvoyMessage message) {
    if (finished) {
      return;
    }
    switch (message) {
      case EnvoyMessage.Body body when body.ofResponse() -> onResponseBody(body);
      case EnvoyMessage.Body ignored -> {}
      case EnvoyMessage.Head head -> {
        switch (head.request().getRequestCase()) {
          case RESPONSE_HEADERS -> onResponseHeaders(head.request());
          case RESPONSE_TRAILERS -> finish();
          case REQUEST_HEADERS, REQUEST_BODY, REQUEST_TRAILERS, RESPONSE_BODY, REQUEST_NOT_SET -> {}
        }
      }
    }
  }

  @Override
  public void onClosed() {
    finished = true;
  }

  private void onResponseHeaders(ProcessingRequest message) {
    ResponseHead head = ResponseHead.read(message);
    if (head.upstreamAddress() == null || head.decisionId() == null) {
      finish(); // written by Envoy or by this process
      return;
    }
    InFlightRequest decided = context.router().inFlight(head.decisionId());
    if (decided == null) {
      finish();
      return;
    }
    decided.attempted(head.upstreamAddress(), head.attempt());
    boolean token =
        head.eventStream() && head.status() < 300 && !message.getResponseHeaders().getEndOfStream();
    if (!token) {
      finish(); // an error, or an answer that comes whole: its first byte says nothing of a token
      return;
    }
    request = decided;
  }

  private void onResponseBody(EnvoyMessage.Body body) {
    if (request == null
        || FirstTokens.observe(scanner, body.bytes(), request, context.nanoClock().getAsLong())
        || body.endOfStream()) {
      finish();
    }
  }

  private void finish() {
    finished = true;
    answers.complete();
  }
}
