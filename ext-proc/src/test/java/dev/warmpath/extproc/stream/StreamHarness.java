package dev.warmpath.extproc.stream;

import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.extproc.serve.GrpcListeners;
import dev.warmpath.extproc.telemetry.GatewayMetrics;
import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The real service on a real socket, and a client that plays Envoy. */
final class StreamHarness implements AutoCloseable {
  static final int MAX_BODY_BYTES = 4 * 1024 * 1024;
  private static final long WAIT_SECONDS = 20;
  private static final Metadata.Key<String> ROLE =
      Metadata.Key.of(GatewayNames.ROLE_KEY, Metadata.ASCII_STRING_MARSHALLER);

  final TestRouter router = new TestRouter();
  final BufferBudget budget;
  private final DecisionPool pool = new DecisionPool(2, 16);
  private final GrpcListeners listeners;
  private final ManagedChannel channel;

  StreamHarness(Path folder, long budgetBytes) throws IOException {
    budget = new BufferBudget(budgetBytes);
    StreamContext context =
        new StreamContext(
            router,
            pool,
            budget,
            MAX_BODY_BYTES,
            new DecisionIds(new SecureRandom()),
            System::nanoTime,
            new GatewayMetrics());
    listeners =
        GrpcListeners.start(
            folder.resolve("x.sock"),
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            1,
            MAX_BODY_BYTES,
            List.of(new ExtProcService(context).bind()));
    channel =
        NettyChannelBuilder.forAddress("127.0.0.1", listeners.tcpPort()).usePlaintext().build();
  }

  Stream decide() {
    return open(GatewayNames.ROLE_DECIDE);
  }

  Stream watch() {
    return open(GatewayNames.ROLE_WATCH);
  }

  /** A stream of a data plane that is not ours. */
  Stream foreign() {
    return open(null);
  }

  private Stream open(@Nullable String role) {
    Metadata headers = new Metadata();
    if (role != null) {
      headers.put(ROLE, role);
    }
    Stream stream = new Stream();
    stream.requests =
        ExternalProcessorGrpc.newStub(channel)
            .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
            .process(stream);
    return stream;
  }

  @Override
  public void close() {
    channel.shutdownNow();
    listeners.close();
    pool.close();
  }

  /** One stream as Envoy sees it. */
  static final class Stream implements StreamObserver<ProcessingResponse> {
    private static final Object COMPLETED = "completed";

    private final BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
    private @Nullable StreamObserver<ProcessingRequest> requests;

    Stream send(ProcessingRequest message) {
      Objects.requireNonNull(requests).onNext(message);
      return this;
    }

    /** The next answer. */
    ProcessingResponse next() throws InterruptedException {
      if (poll() instanceof ProcessingResponse answer) {
        return answer;
      }
      throw new AssertionError("the stream ended instead of an answer");
    }

    /** Waits for the processor's half-close. */
    void awaitCompleted() throws InterruptedException {
      Object end = poll();
      if (!end.equals(COMPLETED)) {
        throw new AssertionError("expected the end of the stream, got " + end);
      }
    }

    /** As when the client hangs up. */
    void cancel() {
      Objects.requireNonNull(requests).onError(Status.CANCELLED.asRuntimeException());
    }

    boolean hasAnswer() {
      return !answers.isEmpty();
    }

    private Object poll() throws InterruptedException {
      Object answer = answers.poll(WAIT_SECONDS, TimeUnit.SECONDS);
      if (answer == null) {
        throw new AssertionError("no answer");
      }
      return answer;
    }

    @Override
    public void onNext(ProcessingResponse answer) {
      answers.add(answer);
    }

    @Override
    public void onError(Throwable thrown) {
      answers.add(thrown);
    }

    @Override
    public void onCompleted() {
      answers.add(COMPLETED);
    }
  }
}
