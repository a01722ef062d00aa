package dev.warmpath.extproc.wire;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.warmpath.crds.config.GatewayNames;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a response's headers tell.
 *
 * @param decisionId from Envoy's dynamic metadata; null where the request was never decided
 * @param upstreamAddress "ip:port"; null where Envoy or the processor wrote the reply
 * @param eventStream the body is a stream of server-sent events
 */
public record ResponseHead(
    @Nullable String decisionId,
    int status,
    @Nullable String upstreamAddress,
    int attempt,
    boolean eventStream) {

  /** Envoy puts attributes below the filter's type name. */
  private static final String ATTRIBUTES_KEY = "envoy.filters.http.ext_proc";

  public static ResponseHead read(ProcessingRequest message) {
    Struct attributes =
        message.getAttributesMap().getOrDefault(ATTRIBUTES_KEY, Struct.getDefaultInstance());
    List<HeaderValue> headers = message.getResponseHeaders().getHeaders().getHeadersList();
    int status = 0;
    boolean eventStream = false;
    for (int i = 0; i < headers.size(); i++) {
      HeaderValue header = headers.get(i);
      switch (header.getKey()) {
        case ":status" -> status = number(value(header));
        case "content-type" -> eventStream = isEventStream(value(header));
        default -> {}
      }
    }
    return new ResponseHead(
        decisionId(message),
        status,
        text(attributes, GatewayNames.ATTRIBUTE_UPSTREAM_ADDRESS),
        Math.max(1, (int) numberOf(attributes, GatewayNames.ATTRIBUTE_ATTEMPT_COUNT)),
        eventStream);
  }

  /** Whether a content type names an event stream; parameters may follow. */
  public static boolean isEventStream(String contentType) {
    return contentType.regionMatches(true, 0, "text/event-stream", 0, "text/event-stream".length());
  }

  private static @Nullable String decisionId(ProcessingRequest message) {
    Struct own =
        message.getMetadataContext().getFilterMetadataMap().get(GatewayNames.METADATA_NAMESPACE);
    return own == null ? null : text(own, GatewayNames.DECISION_KEY);
  }

  private static @Nullable String text(Struct struct, String key) {
    Value value = struct.getFieldsMap().get(key);
    return value == null || value.getStringValue().isEmpty() ? null : value.getStringValue();
  }

  private static double numberOf(Struct struct, String key) {
    Value value = struct.getFieldsMap().get(key);
    return value == null ? 0 : value.getNumberValue();
  }

  private static String value(HeaderValue header) {
    return header.getRawValue().isEmpty() ? header.getValue() : header.getRawValue().toStringUtf8();
  }

  private static int number(String text) {
    int number = 0;
    for (int i = 0; i < Math.min(3, text.length()); i++) {
      number = number * 10 + (text.charAt(i) - '0');
    }
    return number;
  }
}
