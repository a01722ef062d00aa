package dev.warmpath.extproc.accesslog;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Duration;
import com.google.protobuf.Struct;
import com.google.protobuf.Timestamp;
import com.google.protobuf.UInt32Value;
import com.google.protobuf.Value;
import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.extproc.inflight.InFlightRequest.Outcome;
import dev.warmpath.extproc.inflight.InFlightRequest.Usage;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.data.accesslog.v3.ResponseFlags;
import org.junit.jupiter.api.Test;

/** One entry, read. */
class EndedRequestTest {
  private static final String VIA_UPSTREAM = "via_upstream";

  private final HTTPAccessLogEntry.Builder entry = HTTPAccessLogEntry.newBuilder();

  @Test
  void completedRequestCarriesUsageAndTimes() {
    status(200, VIA_UPSTREAM);
    usage(GatewayNames.USAGE_PROMPT_TOKENS, 100);
    usage(GatewayNames.USAGE_CACHED_TOKENS, 0);
    metadata(GatewayNames.METADATA_NAMESPACE, GatewayNames.DECISION_KEY, string("abc"));
    entry
        .getCommonPropertiesBuilder()
        .setStartTime(Timestamp.newBuilder().setSeconds(10))
        .setTimeToLastRxByte(Duration.newBuilder().setNanos(2_000_000))
        .setTimeToLastDownstreamTxByte(Duration.newBuilder().setSeconds(3))
        .setUpstreamRequestAttemptCount(2)
        .putCustomTags(GatewayNames.TAG_FIRST_BODY_MICROS, "5000")
        .putCustomTags(GatewayNames.TAG_CONTENT_TYPE, "text/event-stream; charset=utf-8")
        .getUpstreamRemoteAddressBuilder()
        .getSocketAddressBuilder()
        .setAddress("10.0.0.1")
        .setPortValue(8000);

    EndedRequest ended = EndedRequest.read(entry.build());

    assertThat(ended)
        .isEqualTo(
            new EndedRequest(
                "abc",
                "10.0.0.1:8000",
                2,
                10_007_000,
                13_000_000,
                new Usage(100, 0, null),
                Outcome.COMPLETED));
  }

  @Test
  void wholeAnswerHasNoFirstToken() {
    status(200, VIA_UPSTREAM);
    entry
        .getCommonPropertiesBuilder()
        .setStartTime(Timestamp.newBuilder().setSeconds(10))
        .setTimeToLastRxByte(Duration.getDefaultInstance())
        .putCustomTags(GatewayNames.TAG_FIRST_BODY_MICROS, "5000")
        .putCustomTags(GatewayNames.TAG_CONTENT_TYPE, "application/json");

    assertThat(EndedRequest.read(entry.build()).firstTokenWallMicros()).isZero();
  }

  @Test
  void disconnectAfterTheEndMarkerIsSuccess() {
    status(200, "downstream_remote_disconnect");
    flags(ResponseFlags.newBuilder().setDownstreamConnectionTermination(true));
    metadata(
        GatewayNames.USAGE_NAMESPACE,
        GatewayNames.USAGE_DONE,
        Value.newBuilder().setBoolValue(true).build());

    assertThat(outcome()).isEqualTo(Outcome.COMPLETED);
  }

  @Test
  void disconnectBeforeTheEndIsTheClients() {
    status(200, "downstream_remote_disconnect");
    flags(ResponseFlags.newBuilder().setDownstreamConnectionTermination(true));

    assertThat(outcome()).isEqualTo(Outcome.CLIENT_GONE);
  }

  @Test
  void errorEventUnderSuccessIsTheUpstreams() {
    status(200, VIA_UPSTREAM);
    usage(GatewayNames.USAGE_ERROR_CODE, 503);
    assertThat(outcome()).isEqualTo(Outcome.UPSTREAM_FULL);

    entry.clear();
    status(200, VIA_UPSTREAM);
    usage(GatewayNames.USAGE_ERROR_CODE, 500);
    assertThat(outcome()).isEqualTo(Outcome.UPSTREAM_ERROR);
  }

  @Test
  void statusOfTheUpstreamCounts() {
    status(503, VIA_UPSTREAM);
    flags(ResponseFlags.newBuilder().setUpstreamRetryLimitExceeded(true));
    assertThat(outcome()).isEqualTo(Outcome.UPSTREAM_FULL);

    status(429, VIA_UPSTREAM);
    assertThat(outcome()).isEqualTo(Outcome.UPSTREAM_FULL);

    status(400, VIA_UPSTREAM);
    assertThat(outcome()).isEqualTo(Outcome.UPSTREAM_ERROR);
  }

  @Test
  void brokenStreamIsAReset() {
    status(200, "upstream_reset_after_response_started{protocol_error}");
    flags(ResponseFlags.newBuilder().setUpstreamProtocolError(true));
    assertThat(outcome()).isEqualTo(Outcome.UPSTREAM_RESET);

    status(503, "upstream_reset_before_response_started{connection_termination}");
    flags(ResponseFlags.newBuilder().setUpstreamConnectionTermination(true));
    assertThat(outcome()).isEqualTo(Outcome.UPSTREAM_RESET);
  }

  @Test
  void replyOfEnvoyMeansNoUpstream() {
    status(503, "upstream_reset_before_response_started{remote_connection_failure}");
    flags(
        ResponseFlags.newBuilder()
            .setUpstreamConnectionFailure(true)
            .setUpstreamRetryLimitExceeded(true));
    assertThat(outcome()).isEqualTo(Outcome.NO_UPSTREAM);

    status(503, "cluster_not_found");
    flags(ResponseFlags.newBuilder().setNoClusterFound(true));
    assertThat(outcome()).isEqualTo(Outcome.NO_UPSTREAM);
  }

  @Test
  void tagsWithoutAValueAreIgnored() {
    status(200, VIA_UPSTREAM);
    entry
        .getCommonPropertiesBuilder()
        .setStartTime(Timestamp.newBuilder().setSeconds(10))
        .setTimeToLastRxByte(Duration.getDefaultInstance())
        .putCustomTags(GatewayNames.TAG_FIRST_BODY_MICROS, "-")
        .putCustomTags(GatewayNames.TAG_CONTENT_TYPE, "text/event-stream");

    EndedRequest ended = EndedRequest.read(entry.build());

    assertThat(ended.firstTokenWallMicros()).isZero();
    assertThat(ended.decisionId()).isNull();
    assertThat(ended.upstreamAddress()).isNull();
    assertThat(ended.usage()).isNull();
  }

  private Outcome outcome() {
    return EndedRequest.read(entry.build()).outcome();
  }

  private void status(int code, String details) {
    entry
        .getResponseBuilder()
        .setResponseCode(UInt32Value.of(code))
        .setResponseCodeDetails(details);
  }

  private void flags(ResponseFlags.Builder flags) {
    entry.getCommonPropertiesBuilder().setResponseFlags(flags);
  }

  private void usage(String key, double value) {
    metadata(GatewayNames.USAGE_NAMESPACE, key, Value.newBuilder().setNumberValue(value).build());
  }

  private void metadata(String namespace, String key, Value value) {
    var metadata = entry.getCommonPropertiesBuilder().getMetadataBuilder();
    Struct before = metadata.getFilterMetadataOrDefault(namespace, Struct.getDefaultInstance());
    metadata.putFilterMetadata(namespace, before.toBuilder().putFields(key, value).build());
  }

  private static Value string(String text) {
    return Value.newBuilder().setStringValue(text).build();
  }
}
