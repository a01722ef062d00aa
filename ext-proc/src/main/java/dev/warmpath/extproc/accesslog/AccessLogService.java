package dev.warmpath.extproc.accesslog;

import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.extproc.inflight.InFlightRequest;
import dev.warmpath.extproc.inflight.InFlightRequest.Outcome;
import dev.warmpath.extproc.telemetry.AccessLogMetrics;
import io.envoyproxy.envoy.data.accesslog.v3.AccessLogType;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.service.accesslog.v3.AccessLogServiceGrpc;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsResponse;
import io.grpc.stub.StreamObserver;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives Envoy's access log: for each ended request its last attempt, its usage, the time of its
 * first token if the watching stream missed it, and how it ended. Entries are read on the I/O
 * thread: they are small, and events never block.
 */
public final class AccessLogService extends AccessLogServiceGrpc.AccessLogServiceImplBase {
  private static final Logger LOG = LoggerFactory.getLogger(AccessLogService.class);

  private final Function<String, @Nullable InFlightRequest> inFlight;
  private final LongSupplier nanoClock;
  private final LongSupplier wallMicros;
  private final AccessLogMetrics metrics;

  /**
   * Wires the service.
   *
   * @param nanoClock the clock of {@link InFlightRequest}
   * @param wallMicros microseconds of the Unix epoch; Envoy runs on the same machine
   */
  public AccessLogService(
      Function<String, @Nullable InFlightRequest> inFlight,
      LongSupplier nanoClock,
      LongSupplier wallMicros,
      AccessLogMetrics metrics) {
    this.inFlight = inFlight;
    this.nanoClock = nanoClock;
    this.wallMicros = wallMicros;
    this.metrics = metrics;
  }

  @Override
  public StreamObserver<StreamAccessLogsMessage> streamAccessLogs(
      StreamObserver<StreamAccessLogsResponse> response) {
    return new StreamObserver<>() {
      @Override
      public void onNext(StreamAccessLogsMessage message) {
        message.getHttpLogs().getLogEntryList().forEach(AccessLogService.this::accept);
      }

      @Override
      public void onError(Throwable thrown) {
        LOG.debug("access log stream ended: {}", thrown.toString());
      }

      @Override
      public void onCompleted() {
        response.onNext(StreamAccessLogsResponse.getDefaultInstance());
        response.onCompleted();
      }
    };
  }

  private void accept(HTTPAccessLogEntry entry) {
    AccessLogType type = entry.getCommonProperties().getAccessLogType();
    if (type != AccessLogType.DownstreamEnd && type != AccessLogType.NotSet) {
      return;
    }
    EndedRequest ended = EndedRequest.read(entry);
    InFlightRequest request =
        ended.decisionId() == null ? null : inFlight.apply(ended.decisionId());
    // The second case is Envoy's own refusal of a request that was never routed, such as a 413.
    boolean replied =
        entry.getResponse().getResponseCodeDetails().startsWith(GatewayNames.REPLY_DETAILS_PREFIX)
            || (request == null && ended.outcome() == Outcome.NO_UPSTREAM);
    metrics.entry(replied ? null : ended.outcome(), request != null);
    if (request == null) {
      return; // answered by the gateway, or ended before by the watching stream
    }
    if (ended.upstreamAddress() != null) {
      request.attempted(ended.upstreamAddress(), ended.attempts());
    }
    if (ended.firstTokenWallMicros() > 0) {
      request.firstToken(nanos(ended.firstTokenWallMicros()));
    }
    if (ended.usage() != null) {
      request.usage(ended.usage());
    }
    request.ended(
        ended.outcome(),
        ended.endWallMicros() > 0 ? nanos(ended.endWallMicros()) : nanoClock.getAsLong());
  }

  /** The same instant on the nanosecond clock; never in the future. */
  private long nanos(long atWallMicros) {
    return nanoClock.getAsLong() - Math.max(0, wallMicros.getAsLong() - atWallMicros) * 1_000;
  }
}
