package dev.warmpath.extproc.config;

import dev.warmpath.crds.config.proto.RoutingConfigRequest;
import dev.warmpath.crds.config.proto.RoutingConfigResponse;
import dev.warmpath.crds.config.proto.RoutingConfigServiceGrpc;
import dev.warmpath.extproc.telemetry.ConfigMetrics;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps one stream to the control plane, and answers each snapshot with the version that is in
 * force after it. Everything runs on one single-threaded scheduler, which therefore also orders
 * configurations.
 */
public final class RoutingConfigClient implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RoutingConfigClient.class);

  private static final long FIRST_BACKOFF_MILLIS = 200;
  private static final long LONGEST_BACKOFF_MILLIS = 5_000;

  private final ManagedChannel channel;
  private final String nodeId;
  private final String nodeCluster;
  private final ConfigurationState state;
  private final ScheduledExecutorService scheduler;
  private final RandomGenerator random;
  private final ConfigMetrics metrics;

  private @Nullable Stream current;
  private int failures;

  /** The reason that was logged last; a new one is news, the same one again is not. */
  private String awayFor = "";

  private boolean closed;

  /**
   * Wires the client.
   *
   * @param scheduler single-threaded; owned by the caller
   * @param random spreads reconnections
   */
  public RoutingConfigClient(
      ManagedChannel channel,
      String nodeId,
      String nodeCluster,
      ConfigurationState state,
      ScheduledExecutorService scheduler,
      RandomGenerator random,
      ConfigMetrics metrics) {
    this.channel = channel;
    this.nodeId = nodeId;
    this.nodeCluster = nodeCluster;
    this.state = state;
    this.scheduler = scheduler;
    this.random = random;
    this.metrics = metrics;
  }

  public void start() {
    scheduler.execute(this::connect);
  }

  @Override
  public void close() {
    scheduler.execute(() -> {
      closed = true;
      if (current != null) {
        current.finish();
      }
    });
    channel.shutdownNow();
  }

  private void connect() {
    if (closed) {
      return;
    }
    channel.resetConnectBackoff(); // our own back-off is the shorter one
    Stream stream = new Stream();
    current = stream;
    stream.requests = RoutingConfigServiceGrpc.newStub(channel).streamRoutingConfig(stream);
    stream.send("", null);
  }

  private void reconnect(String reason) {
    current = null;
    metrics.connected(false);
    if (closed) {
      return;
    }
    if (!reason.equals(awayFor)) {
      awayFor = reason;
      LOG.warn("control plane is away ({}); {}", reason, meanwhile());
    }
    long delay = Math.min(LONGEST_BACKOFF_MILLIS, FIRST_BACKOFF_MILLIS << Math.min(failures, 10));
    failures++;
    var _ =
        scheduler.schedule(
            this::connect, delay / 2 + random.nextLong(delay / 2 + 1), TimeUnit.MILLISECONDS);
  }

  private String meanwhile() {
    return state.versionInForce().isEmpty()
        ? "there is no configuration to serve by yet"
        : "serving on by what is in force";
  }

  /** The status, and what is at its root: gRPC's own message of a failed handshake says little. */
  private static String reason(Throwable thrown) {
    Status status = Status.fromThrowable(thrown);
    Throwable root = thrown;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    String first = firstLine(status.getDescription());
    String text = status.getCode() + (first.isEmpty() ? "" : ": " + first);
    String cause = root.getMessage();
    return cause == null || text.contains(firstLine(cause))
        ? text
        : text + ": " + root.getClass().getSimpleName() + ": " + cause;
  }

  private static String firstLine(@Nullable String text) {
    return text == null ? "" : text.lines().findFirst().orElse("");
  }

  /** One stream. Its callbacks hop to the scheduler, and do nothing once it is not the current. */
  private final class Stream implements StreamObserver<RoutingConfigResponse> {
    private @Nullable StreamObserver<RoutingConfigRequest> requests;

    @Override
    public void onNext(RoutingConfigResponse response) {
      run(() -> {
        if (failures > 0) {
          LOG.info("control plane is back");
        }
        failures = 0;
        awayFor = "";
        metrics.connected(true);
        String problem =
            state.accept(response.getConfigurationJson().toByteArray(), response.getVersion());
        send(response.getNonce(), problem);
      });
    }

    @Override
    public void onError(Throwable thrown) {
      run(() -> reconnect(reason(thrown)));
    }

    @Override
    public void onCompleted() {
      run(() -> reconnect("stream ended"));
    }

    private void run(Runnable task) {
      try {
        scheduler.execute(() -> {
          if (current == this) {
            task.run();
          }
        });
      } catch (RejectedExecutionException e) {
        LOG.debug("stopped already");
      }
    }

    private void send(String nonce, @Nullable String problem) {
      RoutingConfigRequest.Builder request =
          RoutingConfigRequest.newBuilder()
              .setNodeId(nodeId)
              .setNodeCluster(nodeCluster)
              .setVersionInForce(state.versionInForce())
              .setResponseNonce(nonce);
      if (problem != null) {
        request.setErrorDetail(problem);
      }
      if (requests != null) {
        requests.onNext(request.build());
      }
    }

    private void finish() {
      if (requests != null) {
        requests.onCompleted();
      }
    }
  }
}
