package dev.warmpath.simulator.server;

import dev.warmpath.simulator.api.Answer;
import dev.warmpath.simulator.api.ApiException;
import dev.warmpath.simulator.api.Errors;
import dev.warmpath.simulator.api.Generation;
import dev.warmpath.simulator.api.Operation;
import dev.warmpath.simulator.api.RequestReader;
import dev.warmpath.simulator.api.ResponseFormat;
import dev.warmpath.simulator.api.ServedModel;
import dev.warmpath.simulator.api.Usage;
import dev.warmpath.simulator.engine.BlockChain;
import dev.warmpath.simulator.engine.CacheModel;
import dev.warmpath.simulator.engine.Engine;
import dev.warmpath.simulator.engine.EngineListener;
import dev.warmpath.simulator.engine.EngineRequest;
import dev.warmpath.simulator.events.SequenceTokens;
import dev.warmpath.simulator.metrics.EngineMetrics;
import dev.warmpath.simulator.text.TokenBuffer;
import dev.warmpath.simulator.text.Tokenizer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** From a request for an answer to engine requests, and from engine events back to the response. */
final class GenerationHandler implements EngineListener {
  private static final long[] NO_CHAIN = {};

  private final ServedModel model;
  private final CacheModel cache;
  private final RequestReader reader;
  private final EngineMetrics metrics;
  private final ServerContext server;
  private final Faults faults;
  private final SplittableRandom ids;
  private final boolean keepTokens;
  private EngineDriver driver;

  // The driver needs the engine, which needs this listener.
  @SuppressWarnings("NullAway.Init")
  GenerationHandler(
      ServedModel model,
      CacheModel cache,
      RequestReader reader,
      EngineMetrics metrics,
      ServerContext server,
      Faults faults,
      SplittableRandom ids,
      boolean keepTokens) {
    this.model = model;
    this.cache = cache;
    this.reader = reader;
    this.metrics = metrics;
    this.server = server;
    this.faults = faults;
    this.ids = ids;
    this.keepTokens = keepTokens;
  }

  void driver(EngineDriver driver) {
    this.driver = driver;
  }

  void handle(Operation operation, Exchange exchange) throws ApiException {
    Faults.Kind fault = faults.next();
    if (fault == Faults.Kind.RESET_BEFORE_FIRST_BYTE) {
      exchange.reset();
      return;
    }
    if (fault == Faults.Kind.STATUS) {
      int status = faults.status();
      exchange.json(
          status,
          status == 503
              ? Errors.busy().body()
              : Errors.error("Injected fault", "InternalServerError", null, status));
      return;
    }
    Generation request = reader.generation(operation, exchange.body());
    ResponseFormat format =
        ResponseFormat.of(request, model, requestId(exchange), server.unixSeconds());
    Response response = new Response(exchange, request, format);
    if (fault == Faults.Kind.IN_BAND_503) {
      response.rejectLate();
      return;
    }
    if (fault == Faults.Kind.RESET_AFTER_FIRST_BYTE) {
      exchange.resetAfterEvents(faults.afterEvents());
    }
    response.submit();
  }

  private String requestId(Exchange exchange) {
    String given = exchange.headers().get("x-request-id");
    return given == null || given.isEmpty() ? HexFormat.of().toHexDigits(ids.nextLong()) : given;
  }

  @Override
  public void onFirstToken(EngineRequest request, long atNanos) {
    metrics.firstToken(request);
  }

  @Override
  public void onToken(EngineRequest request, long atNanos) {
    if (request.attachment() instanceof Choice choice) {
      choice.response.token(choice.index, request.generatedTokens() - 1);
    }
  }

  @Override
  public void onFinished(EngineRequest request, long atNanos) {
    if (request.attachment() instanceof Choice choice) {
      choice.response.finished(request);
    }
  }

  @Override
  public void onRejected(EngineRequest request, long atNanos) {
    if (request.attachment() instanceof Choice choice) {
      choice.response.rejectLate();
    }
  }

  @Override
  public void onLost(EngineRequest request, long atNanos) {
    if (request.attachment() instanceof Choice choice) {
      choice.response.exchange.reset();
    }
  }

  @Override
  public void onSteps(
      long steps, int decoders, long prefillTokens, long firstGapNanos, long lastGapNanos) {
    metrics.step(decoders, prefillTokens, firstGapNanos, steps);
  }

  /** The attachment of an engine request. */
  private static final class Choice implements SequenceTokens {
    private final Response response;
    private final int index;
    private int[] tokenIds = {};

    Choice(Response response, int index) {
      this.response = response;
      this.index = index;
    }

    @Override
    public int[] tokenIds() {
      return tokenIds;
    }

    @Override
    public @Nullable String cacheSalt() {
      String salt = response.request.body().path("cache_salt").asString("");
      return salt.isEmpty() ? null : salt;
    }
  }

  /** One response on its way; its choices run through the engine side by side. */
  private final class Response {
    private final Exchange exchange;
    private final Generation request;
    private final ResponseFormat format;
    private final List<EngineRequest> running = new ArrayList<>(1);
    private boolean opened;
    private int finished;
    private int cachedTokens;
    private int completionTokens;

    Response(Exchange exchange, Generation request, ResponseFormat format) {
      this.exchange = exchange;
      this.request = request;
      this.format = format;
    }

    void submit() throws ApiException {
      int choices = request.choices();
      for (int i = 0; i < request.answers().size(); i++) {
        Answer answer = request.answers().get(i);
        int prompt = i / choices;
        int promptTokens = request.promptTokens().get(prompt);
        Choice choice = new Choice(this, i);
        EngineRequest engineRequest =
            new EngineRequest(
                chain(request.prompts().get(prompt), answer, choice),
                promptTokens,
                answer.tokens(),
                choice);
        Engine.Admission admission = driver.submit(engineRequest, exchange.arrivalNanos());
        if (admission != Engine.Admission.ACCEPTED) {
          running.forEach(driver::abort);
          throw admission == Engine.Admission.QUEUE_FULL
              ? Errors.busy()
              : Errors.promptTooLong(request.operation(), promptTokens, model.maxTokens());
        }
        running.add(engineRequest);
      }
      exchange.onAbort(() -> running.forEach(driver::abort));
      if (request.stream()) {
        exchange.startStream();
        format.start(exchange);
      }
      driver.advance();
    }

    private long[] chain(TokenBuffer prompt, Answer answer, Choice choice) {
      if (!cache.enabled() || model.countOnly()) {
        return NO_CHAIN;
      }
      Tokenizer tokenizer = reader.tokenizer();
      TokenBuffer all = new TokenBuffer();
      for (int i = 0; i < prompt.size(); i++) {
        all.add(prompt.get(i));
      }
      answer.encode(tokenizer, all);
      if (keepTokens) {
        choice.tokenIds = all.toArray();
      }
      return BlockChain.ofTokens(all.array(), all.size(), cache.blockTokens(), request.salt());
    }

    void token(int choice, int index) {
      if (!request.stream()) {
        return;
      }
      if (!opened) {
        opened = true;
        format.open(exchange);
      }
      format.token(exchange, choice, index);
    }

    void finished(EngineRequest engineRequest) {
      finished++;
      completionTokens += engineRequest.generatedTokens();
      // Choices of one prompt share its hits; what counts is what the first of them found.
      if (engineRequest == running.getFirst() || request.choices() == 1) {
        cachedTokens += engineRequest.cachedTokens();
      }
      boolean byLimit =
          engineRequest.attachment() instanceof Choice choice
              && request.answers().get(choice.index).byLimit();
      metrics.finished(engineRequest, byLimit, request.choices());
      if (finished == running.size()) {
        end();
      }
    }

    private void end() {
      Usage usage = new Usage(request.totalPromptTokens(), cachedTokens, completionTokens);
      RequestLog.Entry entry = exchange.entry();
      if (entry != null) {
        entry.promptTokens = usage.promptTokens();
        entry.cachedTokens = cachedTokens;
        entry.outputTokens = completionTokens;
      }
      if (request.stream()) {
        format.end(exchange, usage);
        exchange.endStream();
      } else {
        exchange.respond(200, "application/json", format.whole(usage), headers());
      }
    }

    private Map<String, String> headers() {
      Map<String, String> headers = new LinkedHashMap<>(server.extraHeaders(exchange));
      String form = exchange.headers().get("endpoint-load-metrics-format");
      boolean reports =
          request.operation() == Operation.CHAT || request.operation() == Operation.COMPLETIONS;
      if (form != null && reports) {
        headers.put("endpoint-load-metrics", LoadReport.of(form, driver.engine().stats()));
      }
      return headers;
    }

    /** The scheduler found the queue full: in-band when the stream has begun, or else a status. */
    void rejectLate() {
      for (EngineRequest other : running) {
        if (other.state() != EngineRequest.State.REJECTED) {
          driver.engine().abort(other, driver.nowNanos());
        }
      }
      if (!request.stream()) {
        exchange.json(503, Errors.busy().body());
        return;
      }
      if (running.isEmpty()) {
        exchange.startStream();
      }
      if (request.operation() == Operation.MESSAGES) {
        exchange.event("event: error\ndata: " + Errors.busyMessageEvent() + "\n\n");
      } else {
        exchange.event("data: " + Errors.busyEvent() + "\n\n");
        exchange.event("data: [DONE]\n\n");
      }
      exchange.endStream();
    }
  }
}
