package dev.warmpath.extproc.warmup;

import com.google.protobuf.ByteString;
import com.google.protobuf.Struct;
import com.google.protobuf.UInt32Value;
import com.google.protobuf.Value;
import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.extproc.request.Operation;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProtocolConfiguration;

/** Messages as Envoy would send them for made-up requests. */
final class SyntheticTraffic {
  private static final ProtocolConfiguration BUFFERED =
      ProtocolConfiguration.newBuilder().setRequestBodyMode(BodySendMode.BUFFERED).build();

  private SyntheticTraffic() {}

  static ProcessingRequest requestHeaders(Operation operation, int bodyBytes) {
    return ProcessingRequest.newBuilder()
        .setRequestHeaders(
            HttpHeaders.newBuilder()
                .setHeaders(
                    HeaderMap.newBuilder()
                        .addHeaders(header(":method", "POST"))
                        .addHeaders(header(":path", operation.path()))
                        .addHeaders(header(":authority", "warm-up"))
                        .addHeaders(header("content-type", "application/json"))
                        .addHeaders(header("content-length", Integer.toString(bodyBytes)))
                        .addHeaders(header("x-request-id", "warm-up"))
                        .addHeaders(header("user-agent", "warm-up"))))
        .setProtocolConfig(BUFFERED)
        .build();
  }

  static ProcessingRequest requestBody(ByteString body) {
    return ProcessingRequest.newBuilder()
        .setRequestBody(HttpBody.newBuilder().setBody(body).setEndOfStream(true))
        .build();
  }

  /**
   * A body in the operation's shape.
   *
   * @param textBytes length of the shared system prompt
   */
  static ByteString body(Operation operation, int textBytes, int number, boolean alias) {
    String model = alias ? "alias" : SyntheticConfiguration.MODEL;
    String words = "shared words \\n of \\u00e9very kind, ".repeat(textBytes / 32 + 1);
    String question = "question number " + number;
    String json =
        switch (operation) {
          case MESSAGES, COUNT_TOKENS ->
              """
              {"max_tokens":16,"messages":[{"role":"user","content":"%s"}],"model":"%s",\
              "system":"%s","stream":true}\
              """
                  .formatted(question, model, words);
          case COMPLETIONS ->
              """
              {"model":"%s","prompt":"%s %s","stream":true}\
              """
                  .formatted(model, words, question);
          case RESPONSES, EMBEDDINGS ->
              """
              {"input":"%s %s","model":"%s"}\
              """
                  .formatted(words, question, model);
          case CHAT_COMPLETIONS ->
              """
              {"messages":[{"role":"system","content":"%s"},{"role":"user","content":\
              [{"type":"text","text":"%s"}]}],"model":"%s","stream":true,"temperature":0.5}\
              """
                  .formatted(words, question, model);
        };
    return ByteString.copyFromUtf8(json);
  }

  static ProcessingRequest responseHeaders(String decisionId, String upstream) {
    return ProcessingRequest.newBuilder()
        .setObservabilityMode(true)
        .setResponseHeaders(
            HttpHeaders.newBuilder()
                .setHeaders(
                    HeaderMap.newBuilder()
                        .addHeaders(header(":status", "200"))
                        .addHeaders(header("content-type", "text/event-stream"))))
        .setMetadataContext(decision(decisionId))
        .putAttributes(
            "envoy.filters.http.ext_proc",
            Struct.newBuilder()
                .putFields(
                    GatewayNames.ATTRIBUTE_UPSTREAM_ADDRESS,
                    Value.newBuilder().setStringValue(upstream).build())
                .build())
        .build();
  }

  static ProcessingRequest responseBody() {
    return ProcessingRequest.newBuilder()
        .setObservabilityMode(true)
        .setResponseBody(
            HttpBody.newBuilder()
                .setBody(
                    ByteString.copyFromUtf8(
                        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n")))
        .build();
  }

  static StreamAccessLogsMessage accessLog(String decisionId) {
    HTTPAccessLogEntry.Builder entry = HTTPAccessLogEntry.newBuilder();
    entry
        .getCommonPropertiesBuilder()
        .setMetadata(
            decision(decisionId).toBuilder()
                .putFilterMetadata(
                    GatewayNames.USAGE_NAMESPACE,
                    Struct.newBuilder()
                        .putFields(GatewayNames.USAGE_PROMPT_TOKENS, number(500))
                        .putFields(GatewayNames.USAGE_CACHED_TOKENS, number(100))
                        .putFields(GatewayNames.USAGE_COMPLETION_TOKENS, number(20))
                        .build()));
    entry
        .getResponseBuilder()
        .setResponseCode(UInt32Value.of(200))
        .setResponseCodeDetails("via_upstream");
    return StreamAccessLogsMessage.newBuilder()
        .setHttpLogs(StreamAccessLogsMessage.HTTPAccessLogEntries.newBuilder().addLogEntry(entry))
        .build();
  }

  private static Metadata decision(String id) {
    return Metadata.newBuilder()
        .putFilterMetadata(
            GatewayNames.METADATA_NAMESPACE,
            Struct.newBuilder()
                .putFields(GatewayNames.DECISION_KEY, Value.newBuilder().setStringValue(id).build())
                .build())
        .build();
  }

  private static Value number(double value) {
    return Value.newBuilder().setNumberValue(value).build();
  }

  private static HeaderValue header(String key, String value) {
    return HeaderValue.newBuilder().setKey(key).setRawValue(ByteString.copyFromUtf8(value)).build();
  }
}
