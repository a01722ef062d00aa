package dev.warmpath.extproc.warmup;

import com.google.protobuf.ByteString;
import com.google.protobuf.Value;
import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.extproc.request.Operation;
import io.envoyproxy.envoy.service.accesslog.v3.AccessLogServiceGrpc;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Plays Envoy against a server until its code is compiled or the time is up: decide, watch, access
 * log, in all request shapes and sizes that matter.
 */
public final class WarmUp {
  private static final Metadata.Key<String> ROLE =
      Metadata.Key.of(GatewayNames.ROLE_KEY, Metadata.ASCII_STRING_MARSHALLER);
  private static final int IN_FLIGHT = 8;
  private static final int SMALL_BYTES = 2_000;
  private static final int LARGE_BYTES = 200_000;

  /** Large bodies take most of the time and warm the same loops. */
  private static final int LARGE_EVERY = 20;

  private static final int LARGE_FROM = 60;

  private static final List<Operation> OPERATIONS =
      List.of(
          Operation.CHAT_COMPLETIONS,
          Operation.CHAT_COMPLETIONS,
          Operation.MESSAGES,
          Operation.COMPLETIONS,
          Operation.RESPONSES);
  private static final String ADDRESS = "192.0.2.1:8000";

  private final ExternalProcessorGrpc.ExternalProcessorStub decide;
  private final ExternalProcessorGrpc.ExternalProcessorStub watch;
  private final StreamObserver<StreamAccessLogsMessage> accessLog;
  private final LongSupplier nanoClock;
  private final Semaphore places = new Semaphore(IN_FLIGHT);

  public WarmUp(ManagedChannel channel, LongSupplier nanoClock) {
    this.decide = stub(channel, GatewayNames.ROLE_DECIDE);
    this.watch = stub(channel, GatewayNames.ROLE_WATCH);
    this.accessLog = AccessLogServiceGrpc.newStub(channel).streamAccessLogs(new Ignore<>());
    this.nanoClock = nanoClock;
  }

  /**
   * Runs at least {@code least} requests, and then more until {@code most} or for {@code
   * enoughNanos} in all. The first ones load classes and may take seconds on a busy machine, so the
   * time alone would say nothing.
   *
   * @param longestNanos when to give up in any case
   * @return how many were decided
   */
  public int run(int least, int most, long enoughNanos, long longestNanos)
      throws InterruptedException {
    long start = nanoClock.getAsLong();
    ByteString large = SyntheticTraffic.body(Operation.CHAT_COMPLETIONS, LARGE_BYTES, 0, false);
    int sent = 0;
    while (sent < most && places.tryAcquire(left(start, longestNanos), TimeUnit.NANOSECONDS)) {
      Operation operation = OPERATIONS.get(sent % OPERATIONS.size());
      if (sent >= LARGE_FROM && sent % LARGE_EVERY == LARGE_EVERY - 1) {
        send(Operation.CHAT_COMPLETIONS, large);
      } else {
        send(operation, SyntheticTraffic.body(operation, SMALL_BYTES, sent, sent % 3 == 0));
      }
      sent++;
      if (sent >= least && left(start, enoughNanos) == 0) {
        break;
      }
    }
    boolean allBack = places.tryAcquire(IN_FLIGHT, left(start, longestNanos), TimeUnit.NANOSECONDS);
    if (allBack) {
      accessLog.onCompleted();
    }
    return sent;
  }

  private long left(long start, long maxNanos) {
    return Math.max(0, maxNanos - (nanoClock.getAsLong() - start));
  }

  private void send(Operation operation, ByteString body) {
    Decided answers = new Decided();
    StreamObserver<ProcessingRequest> requests = decide.process(answers);
    requests.onNext(SyntheticTraffic.requestHeaders(operation, body.size()));
    requests.onNext(SyntheticTraffic.requestBody(body));
  }

  private void follow(String decisionId) {
    StreamObserver<ProcessingRequest> watching = watch.process(new Ignore<>());
    watching.onNext(SyntheticTraffic.responseHeaders(decisionId, ADDRESS));
    watching.onNext(SyntheticTraffic.responseBody());
    synchronized (accessLog) {
      accessLog.onNext(SyntheticTraffic.accessLog(decisionId));
    }
  }

  private static ExternalProcessorGrpc.ExternalProcessorStub stub(
      ManagedChannel channel, String role) {
    Metadata headers = new Metadata();
    headers.put(ROLE, role);
    return ExternalProcessorGrpc.newStub(channel)
        .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
  }

  /** Waits for the half-close that follows a decision. */
  private final class Decided implements StreamObserver<ProcessingResponse> {
    private String decisionId = "";

    @Override
    public void onNext(ProcessingResponse answer) {
      decisionId =
          answer
              .getDynamicMetadata()
              .getFieldsMap()
              .getOrDefault(GatewayNames.METADATA_NAMESPACE, Value.getDefaultInstance())
              .getStructValue()
              .getFieldsMap()
              .getOrDefault(GatewayNames.DECISION_KEY, Value.getDefaultInstance())
              .getStringValue();
    }

    @Override
    public void onError(Throwable thrown) {
      places.release();
    }

    @Override
    public void onCompleted() {
      follow(decisionId);
      places.release();
    }
  }

  private static final class Ignore<T> implements StreamObserver<T> {
    @Override
    public void onNext(T value) {}

    @Override
    public void onError(Throwable thrown) {}

    @Override
    public void onCompleted() {}
  }
}
