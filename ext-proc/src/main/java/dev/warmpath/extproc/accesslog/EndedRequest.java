package dev.warmpath.extproc.accesslog;

import com.google.protobuf.Duration;
import com.google.protobuf.Struct;
import com.google.protobuf.Timestamp;
import com.google.protobuf.Value;
import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.extproc.inflight.InFlightRequest.Outcome;
import dev.warmpath.extproc.inflight.InFlightRequest.Usage;
import io.envoyproxy.envoy.config.core.v3.SocketAddress;
import io.envoyproxy.envoy.data.accesslog.v3.AccessLogCommon;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.data.accesslog.v3.ResponseFlags;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one access log entry tells about one request.
 *
 * @param decisionId null where the request was never decided
 * @param upstreamAddress "ip:port" of the last attempt; null where none was made
 * @param attempts how many there were, at least 1
 * @param firstTokenWallMicros when the first body byte of an event stream came, in microseconds of
 *     the Unix epoch; 0 where there was none, or where it doesn't mean a token
 * @param endWallMicros when the last byte left, same clock; 0 where unknown
 * @param usage null where nothing was reported
 */
record EndedRequest(
    @Nullable String decisionId,
    @Nullable String upstreamAddress,
    int attempts,
    long firstTokenWallMicros,
    long endWallMicros,
    @Nullable Usage usage,
    Outcome outcome) {

  /** An upstream wrote the response. */
  private static final String VIA_UPSTREAM = "via_upstream";

  /** Its first event is written before any work is done. */
  private static final String RESPONSES_PATH = "/v1/responses";

  static EndedRequest read(HTTPAccessLogEntry entry) {
    AccessLogCommon common = entry.getCommonProperties();
    Map<String, Struct> metadata = common.getMetadata().getFilterMetadataMap();
    Struct usage = metadata.getOrDefault(GatewayNames.USAGE_NAMESPACE, Struct.getDefaultInstance());
    long start = micros(common.getStartTime());
    return new EndedRequest(
        text(metadata.get(GatewayNames.METADATA_NAMESPACE), GatewayNames.DECISION_KEY),
        address(common),
        Math.max(1, common.getUpstreamRequestAttemptCount()),
        firstToken(entry, usage, start),
        common.hasTimeToLastDownstreamTxByte() && start > 0
            ? start + micros(common.getTimeToLastDownstreamTxByte())
            : 0,
        usage(usage),
        outcome(entry, usage));
  }

  private static long firstToken(HTTPAccessLogEntry entry, Struct usage, long start) {
    AccessLogCommon common = entry.getCommonProperties();
    Map<String, String> tags = common.getCustomTagsMap();
    long firstBody = number(tags.get(GatewayNames.TAG_FIRST_BODY_MICROS));
    boolean eventStream =
        tags.getOrDefault(GatewayNames.TAG_CONTENT_TYPE, "").startsWith("text/event-stream");
    if (firstBody < 0
        || start == 0
        || !eventStream
        || !common.hasTimeToLastRxByte()
        || usage.containsFields(GatewayNames.USAGE_ERROR_CODE)
        || entry.getResponse().getResponseCode().getValue() >= 300
        || entry.getRequest().getPath().startsWith(RESPONSES_PATH)) {
      return 0;
    }
    return start + micros(common.getTimeToLastRxByte()) + firstBody;
  }

  private static Outcome outcome(HTTPAccessLogEntry entry, Struct usage) {
    Value errorCode = usage.getFieldsMap().get(GatewayNames.USAGE_ERROR_CODE);
    if (errorCode != null) {
      return failure((int) errorCode.getNumberValue());
    }
    Value done = usage.getFieldsMap().get(GatewayNames.USAGE_DONE);
    if (done != null && done.getBoolValue()) {
      // Clients close as soon as they have read the end marker, so a disconnect is no abort then.
      return Outcome.COMPLETED;
    }
    int status = entry.getResponse().getResponseCode().getValue();
    String details = entry.getResponse().getResponseCodeDetails();
    ResponseFlags flags = entry.getCommonProperties().getResponseFlags();
    if (flags.getDownstreamConnectionTermination()
        || flags.getDownstreamRemoteReset()
        || flags.getDownstreamProtocolError()) {
      return Outcome.CLIENT_GONE;
    }
    if (details.equals(VIA_UPSTREAM) && status >= 400) {
      return failure(status);
    }
    if (flags.getUpstreamProtocolError()
        || flags.getUpstreamConnectionTermination()
        || flags.getUpstreamRemoteReset()
        || flags.getLocalReset()
        || flags.getStreamIdleTimeout()
        || flags.getUpstreamRequestTimeout()
        || flags.getUpstreamMaxStreamDurationReached()
        || flags.getDurationTimeout()) {
      return Outcome.UPSTREAM_RESET;
    }
    if (flags.getUpstreamConnectionFailure()
        || flags.getNoHealthyUpstream()
        || flags.getNoClusterFound()
        || flags.getNoRouteFound()
        || flags.getUpstreamOverflow()
        || flags.getUpstreamRetryLimitExceeded()
        || flags.getDnsResolutionFailure()) {
      return Outcome.NO_UPSTREAM;
    }
    if (status == 0) {
      return Outcome.CLIENT_GONE;
    }
    return status >= 400 ? Outcome.NO_UPSTREAM : Outcome.COMPLETED;
  }

  private static Outcome failure(int status) {
    return status == 429 || status == 503 || status == 529
        ? Outcome.UPSTREAM_FULL
        : Outcome.UPSTREAM_ERROR;
  }

  private static @Nullable Usage usage(Struct usage) {
    Integer prompt = count(usage, GatewayNames.USAGE_PROMPT_TOKENS);
    Integer cached = count(usage, GatewayNames.USAGE_CACHED_TOKENS);
    Integer completion = count(usage, GatewayNames.USAGE_COMPLETION_TOKENS);
    return prompt == null && cached == null && completion == null
        ? null
        : new Usage(prompt, cached, completion);
  }

  private static @Nullable Integer count(Struct usage, String key) {
    Value value = usage.getFieldsMap().get(key);
    return value == null || !value.hasNumberValue() ? null : (int) value.getNumberValue();
  }

  private static @Nullable String address(AccessLogCommon common) {
    if (!common.getUpstreamRemoteAddress().hasSocketAddress()) {
      return null;
    }
    SocketAddress address = common.getUpstreamRemoteAddress().getSocketAddress();
    String host = address.getAddress();
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + address.getPortValue();
  }

  private static @Nullable String text(@Nullable Struct struct, String key) {
    Value value = struct == null ? null : struct.getFieldsMap().get(key);
    return value == null || value.getStringValue().isEmpty() ? null : value.getStringValue();
  }

  /** A tag's whole number, or -1 where it is absent, "-" or no number. */
  private static long number(@Nullable String tag) {
    if (tag == null || tag.isEmpty() || tag.length() > 18) {
      return -1;
    }
    long number = 0;
    for (int i = 0; i < tag.length(); i++) {
      int digit = tag.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      number = number * 10 + digit;
    }
    return number;
  }

  private static long micros(Timestamp time) {
    return time.getSeconds() * 1_000_000 + time.getNanos() / 1_000;
  }

  private static long micros(Duration duration) {
    return duration.getSeconds() * 1_000_000 + duration.getNanos() / 1_000;
  }
}
