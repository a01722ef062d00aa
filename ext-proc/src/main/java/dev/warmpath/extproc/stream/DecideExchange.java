package dev.warmpath.extproc.stream;

import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.extproc.inflight.InFlightRequest;
import dev.warmpath.extproc.inflight.InFlightRequest.Outcome;
import dev.warmpath.extproc.response.FirstEventScanner;
import dev.warmpath.extproc.route.ApiError;
import dev.warmpath.extproc.route.Decision;
import dev.warmpath.extproc.route.RequestHead;
import dev.warmpath.extproc.stream.DecideState.AwaitingHeaders;
import dev.warmpath.extproc.stream.DecideState.Deciding;
import dev.warmpath.extproc.stream.DecideState.Finished;
import dev.warmpath.extproc.stream.DecideState.Following;
import dev.warmpath.extproc.stream.DecideState.Question;
import dev.warmpath.extproc.stream.DecideState.ReadingBody;
import dev.warmpath.extproc.wire.BodyMode;
import dev.warmpath.extproc.wire.EnvoyMessage;
import dev.warmpath.extproc.wire.ImmediateReplies;
import dev.warmpath.extproc.wire.RequestHeads;
import dev.warmpath.extproc.wire.ResponseAnswers;
import dev.warmpath.extproc.wire.ResponseHead;
import dev.warmpath.extproc.wire.RoutedAnswers;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request on its way in: headers, body, one decision, one answer; see {@link DecideState}.
 *
 * <p>Messages arrive on an I/O thread, decisions come back on a decision thread; the monitor of
 * this object guards the state and the sending half, and is never held while a decision is made
 * from a body.
 *
 * <p>For our own Envoy the stream ends with the answer: a stream left open would cut the response
 * if this process dies. Another data plane ({@code foreign}) may send the response through the same
 * stream and may have no access log for us, so there the stream stays and tells the request's end.
 */
final class DecideExchange implements Exchange {
  private static final Logger LOG = LoggerFactory.getLogger(DecideExchange.class);

  /** From this size on, reading a body may take longer than Envoy's default message timeout. */
  private static final int SLOW_BODY_BYTES = 1024 * 1024;

  /** Asked for once a message, since Envoy ignores a second wish: so generous. */
  private static final long BUSY_WAIT_NANOS = TimeUnit.SECONDS.toNanos(120);

  /** A longer wish would be ignored altogether. */
  private static final long LONGEST_WAIT_NANOS =
      TimeUnit.SECONDS.toNanos(GatewayNames.MAX_MESSAGE_TIMEOUT_SECONDS);

  /** Between a deferred decision and Envoy's patience. */
  private static final long DEFERRED_MARGIN_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final RequestHead NO_HEAD = new RequestHead("", "", "", "", "", Map.of(), 0);

  private final StreamContext context;
  private final Answers answers;
  private final boolean foreign;

  private DecideState state = new AwaitingHeaders();
  private BodyMode responseMode = BodyMode.NONE;
  private boolean moreTimeAsked;

  DecideExchange(StreamContext context, Answers answers, boolean foreign) {
    this.context = context;
    this.answers = answers;
    this.foreign = foreign;
  }

  @Override
  public synchronized void onMessage(EnvoyMessage message) {
    try {
      accept(message);
    } catch (RuntimeException e) {
      LOG.error("message not understood: {}", SafeTrace.of(e));
      context.metrics().failed();
      abandon();
    }
  }

  private void accept(EnvoyMessage message) {
    switch (message) {
      case EnvoyMessage.Body body when body.ofResponse() -> onResponseBody(body);
      case EnvoyMessage.Body body -> onRequestBody(body);
      case EnvoyMessage.Head head -> {
        switch (head.request().getRequestCase()) {
          case REQUEST_HEADERS -> onRequestHeaders(head.request());
          case REQUEST_TRAILERS -> onRequestTrailers();
          case RESPONSE_HEADERS -> onResponseHeaders(head.request());
          case RESPONSE_TRAILERS -> onResponseTrailers();
          case REQUEST_BODY, RESPONSE_BODY, REQUEST_NOT_SET -> {}
        }
      }
    }
  }

  @Override
  public synchronized void onClosed() {
    close(null);
  }

  /**
   * @param unread what the client was told while its body was read; null where it has left
   */
  private void close(@Nullable ApiError unread) {
    DecideState last = state;
    state = new Finished();
    switch (last) {
      case AwaitingHeaders ignored -> {}
      case ReadingBody reading -> {
        reading.upload().release();
        context.router().undecided(reading.head(), unread);
      }
      case Deciding deciding -> {
        // Otherwise the decision thread finds the state changed and gives back what was reserved.
        if (deciding.clientGone() != null) {
          deciding.question().upload().release();
          deciding.clientGone().run();
        }
      }
      case Following following ->
          following
              .request()
              .ended(
                  following.responseBody() ? Outcome.CLIENT_GONE : Outcome.COMPLETED,
                  context.nanoClock().getAsLong());
      case Finished ignored -> {}
    }
  }

  /** Leaves no message without an answer, whatever went wrong. */
  private void abandon() {
    DecideState last = state;
    RequestHead head =
        switch (last) {
          case ReadingBody reading -> reading.head();
          case Deciding deciding -> deciding.question().head();
          case AwaitingHeaders ignored -> NO_HEAD;
          case Following ignored -> null;
          case Finished ignored -> null;
        };
    ApiError internal = null;
    if (head != null) {
      internal = GatewayErrors.internal(head);
      answers.send(ImmediateReplies.error(head, internal));
    }
    close(internal);
    answers.complete();
  }

  private void onRequestHeaders(ProcessingRequest message) {
    if (!(state instanceof AwaitingHeaders)) {
      return;
    }
    RequestHead head =
        context
            .router()
            .arrived(
                RequestHeads.read(
                    message, context.decisionIds().get(), context.nanoClock().getAsLong()));
    responseMode = BodyMode.ofResponse(message);
    boolean bodiless = message.getRequestHeaders().getEndOfStream();
    BodyMode mode = bodiless ? BodyMode.NONE : BodyMode.ofRequest(message);
    Upload upload = new Upload(context.budget(), context.maxBodyBytes());
    try {
      Decision early = context.router().routeHead(head);
      if (early != null) {
        settleAtHeaders(head, mode, upload, early);
        return;
      }
    } catch (RuntimeException e) {
      settleAtHeaders(head, mode, upload, failed(head, e));
      return;
    }
    if (mode == BodyMode.STREAMED || (mode == BodyMode.NONE && !bodiless)) {
      refuse(head, upload, GatewayErrors.unsupportedBodyMode(head));
      return;
    }
    if (bodiless) {
      decide(new Question(head, mode, upload, true, false));
      return;
    }
    if (!accepted(head, upload, upload.announce(RequestHeads.contentLength(head)))) {
      return;
    }
    state = new ReadingBody(head, mode, upload);
    if (!mode.answersHeadersLast()) {
      answers.send(RoutedAnswers.needBody(head));
    }
  }

  private void onRequestBody(EnvoyMessage.Body body) {
    // Some Envoys repeat the last chunk of a FULL_DUPLEX body; by then the state has moved on.
    if (!(state instanceof ReadingBody(RequestHead head, BodyMode mode, Upload upload))) {
      return;
    }
    if (!accepted(head, upload, upload.add(body.bytes()))) {
      return;
    }
    if (mode == BodyMode.BUFFERED || body.endOfStream()) {
      decide(new Question(head, mode, upload, false, false));
    }
  }

  private void onRequestTrailers() {
    if (state instanceof ReadingBody(RequestHead head, BodyMode mode, Upload upload)) {
      decide(new Question(head, mode, upload, false, true));
    }
  }

  private boolean accepted(RequestHead head, Upload upload, Upload.Result result) {
    switch (result) {
      case ACCEPTED -> {
        return true;
      }
      case BUFFER_FULL -> {
        context.metrics().bufferFull();
        refuse(head, upload, GatewayErrors.bufferFull(head));
      }
      case TOO_LARGE -> refuse(head, upload, GatewayErrors.tooLarge(head, context.maxBodyBytes()));
    }
    return false;
  }

  private void refuse(RequestHead head, Upload upload, ApiError error) {
    context.router().undecided(head, error);
    settleAtHeaders(head, BodyMode.NONE, upload, new Decision.Rejected(error));
  }

  /** An immediate reply is an answer to any message, so it does not matter which one waits. */
  private void settleAtHeaders(RequestHead head, BodyMode mode, Upload upload, Decision decision) {
    Question question = new Question(head, mode, upload, true, false);
    state = new Deciding(question, null);
    settle(question, decision);
  }

  /** Moves to the decision threads, unless too many wait already. */
  private void decide(Question question) {
    state = new Deciding(question, null);
    if (question.upload().size() > SLOW_BODY_BYTES || context.pool().isBusy()) {
      askForMoreTime(question, BUSY_WAIT_NANOS);
    }
    if (!context.pool().tryExecute(() -> decideNow(question))) {
      context.metrics().overloaded();
      ApiError overloaded = GatewayErrors.overloaded(question.head());
      context.router().undecided(question.head(), overloaded);
      settle(question, new Decision.Rejected(overloaded));
    }
  }

  private void askForMoreTime(Question question, long nanos) {
    if (!moreTimeAsked && question.mode() != BodyMode.FULL_DUPLEX) {
      moreTimeAsked = true;
      answers.send(RoutedAnswers.moreTime(Math.min(nanos, LONGEST_WAIT_NANOS)));
    }
  }

  /** On a decision thread, without the monitor. */
  private void decideNow(Question question) {
    byte[] body;
    synchronized (this) {
      if (!(state instanceof Deciding)) {
        question.upload().release();
        context.router().undecided(question.head(), null);
        return;
      }
      body = question.upload().body();
    }
    Decision decision;
    try {
      decision = context.router().route(question.head(), body);
    } catch (RuntimeException | StackOverflowError e) {
      decision = failed(question.head(), e);
    }
    settle(question, decision);
  }

  /** Answers what waits, exactly once; a decision that comes too late is undone. */
  private synchronized void settle(Question question, Decision decision) {
    if (!(state instanceof Deciding)) {
      question.upload().release();
      undo(decision);
      return;
    }
    switch (decision) {
      case Decision.Routed routed -> sendRouted(question, routed);
      case Decision.Answered answered ->
          reply(question, ImmediateReplies.answered(question.head(), answered), "answered");
      case Decision.Rejected rejected ->
          reply(question, ImmediateReplies.error(question.head(), rejected.error()), "rejected");
      case Decision.ClientGone gone -> {
        question.upload().release();
        finish();
      }
      case Decision.Deferred deferred -> {
        askForMoreTime(question, deferred.maxWaitNanos() + DEFERRED_MARGIN_NANOS);
        state = new Deciding(question, deferred.clientGone());
        context.metrics().deferred();
        deferred
            .decision()
            .whenComplete((late, failure) ->
                settle(question, failure == null ? late : failed(question.head(), failure)));
      }
    }
  }

  private void sendRouted(Question question, Decision.Routed routed) {
    RequestHead head = question.head();
    Upload upload = question.upload();
    try {
      if (question.headersOnly()) {
        answers.send(RoutedAnswers.forHeaders(head, routed, foreign));
      } else if (question.mode().answersHeadersLast()) {
        RoutedAnswers.forStreamedBody(
                head,
                routed,
                upload.body(),
                question.mode(),
                upload.messages(),
                question.trailers(),
                foreign)
            .forEach(answers::send);
      } else {
        answers.send(RoutedAnswers.forBufferedBody(head, routed, upload.body(), foreign));
        if (question.trailers()) {
          answers.send(RoutedAnswers.TRAILERS);
        }
      }
    } catch (RuntimeException e) {
      // Nothing was sent: the messages are built before the first one leaves.
      routed.request().ended(Outcome.LOST, context.nanoClock().getAsLong());
      reply(question, ImmediateReplies.error(head, internalError(head, e)), "rejected");
      return;
    }
    upload.release();
    context.metrics().decided("routed", elapsedNanos(head));
    if (foreign) {
      state = new Following(routed.request(), null, false);
    } else {
      finish();
    }
  }

  private void reply(Question question, ProcessingResponse reply, String kind) {
    answers.send(reply);
    question.upload().release();
    context.metrics().decided(kind, elapsedNanos(question.head()));
    finish();
  }

  /** The last answer is out; Envoy needs this stream no longer. */
  private void finish() {
    state = new Finished();
    answers.complete();
  }

  /** The client left while the decision was made. */
  private void undo(Decision decision) {
    switch (decision) {
      case Decision.Routed routed ->
          routed.request().ended(Outcome.CLIENT_GONE, context.nanoClock().getAsLong());
      case Decision.Deferred deferred -> deferred.clientGone().run();
      case Decision.Answered ignored -> {}
      case Decision.Rejected ignored -> {}
      case Decision.ClientGone ignored -> {}
    }
  }

  private Decision failed(RequestHead head, Throwable cause) {
    ApiError internal = internalError(head, cause);
    context.router().undecided(head, internal);
    return new Decision.Rejected(internal);
  }

  private ApiError internalError(RequestHead head, Throwable cause) {
    context.metrics().failed();
    // The exception's own text may quote the prompt, so only its type and place are logged.
    LOG.error("decision {} failed: {}", head.decisionId(), SafeTrace.of(cause));
    return GatewayErrors.internal(head);
  }

  private long elapsedNanos(RequestHead head) {
    return context.nanoClock().getAsLong() - head.arrivalNanos();
  }

  private void onResponseHeaders(ProcessingRequest message) {
    answers.send(ResponseAnswers.HEADERS);
    if (!(state instanceof Following following)) {
      return;
    }
    ResponseHead head = ResponseHead.read(message);
    InFlightRequest request = following.request();
    if (head.upstreamAddress() != null) {
      request.attempted(head.upstreamAddress(), head.attempt());
    }
    if (message.getResponseHeaders().getEndOfStream()) {
      end(request, head.status());
      return;
    }
    if (head.status() >= 400) {
      request.ended(Outcomes.ofStatus(head.status()), context.nanoClock().getAsLong());
    }
    boolean token = head.eventStream() && head.status() < 300;
    state =
        new Following(
            request, token ? new FirstEventScanner() : null, responseMode != BodyMode.NONE);
  }

  private void onResponseBody(EnvoyMessage.Body body) {
    ResponseAnswers.body(body, responseMode).forEach(answers::send);
    if (!(state instanceof Following(InFlightRequest request, FirstEventScanner scanner, _))) {
      return;
    }
    if (scanner != null
        && FirstTokens.observe(scanner, body.bytes(), request, context.nanoClock().getAsLong())) {
      state = new Following(request, null, true);
    }
    if (body.endOfStream()) {
      end(request, 200);
    }
  }

  private void onResponseTrailers() {
    answers.send(ResponseAnswers.TRAILERS);
    if (state instanceof Following following) {
      end(following.request(), 200);
    }
  }

  private void end(InFlightRequest request, int status) {
    request.ended(Outcomes.ofStatus(status), context.nanoClock().getAsLong());
    finish();
  }
}
