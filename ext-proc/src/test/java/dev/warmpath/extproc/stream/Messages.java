package dev.warmpath.extproc.stream;

import com.google.protobuf.ByteString;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.warmpath.crds.config.GatewayNames;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpTrailers;
import io.envoyproxy.envoy.service.ext_proc.v3.ImmediateResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProtocolConfiguration;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Messages as Envoy sends them, and short readings of answers. */
final class Messages {
  static final String CHAT = "/v1/chat/completions";

  private Messages() {}

  static ProcessingRequest headers(
      String method, String path, BodySendMode mode, boolean endOfStream, String... more) {
    HeaderMap.Builder map = HeaderMap.newBuilder();
    add(map, ":method", method);
    add(map, ":path", path);
    add(map, "x-request-id", "req-1");
    for (int i = 0; i < more.length; i += 2) {
      add(map, more[i], more[i + 1]);
    }
    return ProcessingRequest.newBuilder()
        .setRequestHeaders(HttpHeaders.newBuilder().setHeaders(map).setEndOfStream(endOfStream))
        .setProtocolConfig(
            ProtocolConfiguration.newBuilder()
                .setRequestBodyMode(mode)
                .setResponseBodyMode(
                    mode == BodySendMode.FULL_DUPLEX_STREAMED ? mode : BodySendMode.NONE))
        .build();
  }

  static ProcessingRequest post(BodySendMode mode, String... more) {
    return headers("POST", CHAT, mode, false, more);
  }

  static ProcessingRequest body(String text, boolean endOfStream) {
    return body(ByteString.copyFromUtf8(text), endOfStream);
  }

  static ProcessingRequest body(ByteString bytes, boolean endOfStream) {
    return ProcessingRequest.newBuilder()
        .setRequestBody(HttpBody.newBuilder().setBody(bytes).setEndOfStream(endOfStream))
        .build();
  }

  static ProcessingRequest requestTrailers() {
    return ProcessingRequest.newBuilder()
        .setRequestTrailers(HttpTrailers.getDefaultInstance())
        .build();
  }

  static ProcessingRequest responseHeaders(
      @Nullable String decisionId, @Nullable String upstream, String status, String contentType) {
    HeaderMap.Builder map = HeaderMap.newBuilder();
    add(map, ":status", status);
    add(map, "content-type", contentType);
    ProcessingRequest.Builder message =
        ProcessingRequest.newBuilder().setResponseHeaders(HttpHeaders.newBuilder().setHeaders(map));
    if (decisionId != null) {
      message
          .getMetadataContextBuilder()
          .putFilterMetadata(
              GatewayNames.METADATA_NAMESPACE,
              Struct.newBuilder()
                  .putFields(
                      GatewayNames.DECISION_KEY,
                      Value.newBuilder().setStringValue(decisionId).build())
                  .build());
    }
    if (upstream != null) {
      message.putAttributes(
          "envoy.filters.http.ext_proc",
          Struct.newBuilder()
              .putFields(
                  GatewayNames.ATTRIBUTE_UPSTREAM_ADDRESS,
                  Value.newBuilder().setStringValue(upstream).build())
              .putFields(
                  GatewayNames.ATTRIBUTE_ATTEMPT_COUNT,
                  Value.newBuilder().setNumberValue(2).build())
              .build());
    }
    return message.build();
  }

  static ProcessingRequest responseBody(String text, boolean endOfStream) {
    return ProcessingRequest.newBuilder()
        .setResponseBody(
            HttpBody.newBuilder()
                .setBody(ByteString.copyFromUtf8(text))
                .setEndOfStream(endOfStream))
        .build();
  }

  /** Set headers of an answer to a headers or body message, or of an immediate reply. */
  static Map<String, String> setHeaders(ProcessingResponse answer) {
    var mutation =
        switch (answer.getResponseCase()) {
          case REQUEST_HEADERS -> answer.getRequestHeaders().getResponse().getHeaderMutation();
          case REQUEST_BODY -> answer.getRequestBody().getResponse().getHeaderMutation();
          case IMMEDIATE_RESPONSE -> answer.getImmediateResponse().getHeaders();
          default -> throw new AssertionError("no header mutation in " + answer);
        };
    return mutation.getSetHeadersList().stream()
        .collect(
            Collectors.toMap(
                option -> option.getHeader().getKey(),
                option -> option.getHeader().getRawValue().toStringUtf8()));
  }

  static String metadata(ProcessingResponse answer, String namespace, String key) {
    Struct fields =
        answer
            .getDynamicMetadata()
            .getFieldsOrDefault(namespace, Value.getDefaultInstance())
            .getStructValue();
    Value value = fields.getFieldsOrDefault(key, Value.getDefaultInstance());
    return value.hasBoolValue() ? Boolean.toString(value.getBoolValue()) : value.getStringValue();
  }

  static ImmediateResponse immediate(ProcessingResponse answer) {
    if (!answer.hasImmediateResponse()) {
      throw new AssertionError("expected an immediate response, got " + answer);
    }
    return answer.getImmediateResponse();
  }

  private static void add(HeaderMap.Builder map, String key, String value) {
    map.addHeaders(
        HeaderValue.newBuilder().setKey(key).setRawValue(ByteString.copyFromUtf8(value)));
  }
}
