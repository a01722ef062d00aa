package dev.warmpath.extproc.wire;

import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.extproc.request.Dialect;
import dev.warmpath.extproc.request.Operation;
import dev.warmpath.extproc.route.RequestHead;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Request headers as Envoy sends them -> {@link RequestHead}. */
public final class RequestHeads {
  private RequestHeads() {}

  /** A repeated header becomes one comma-separated value, as HTTP allows. */
  public static RequestHead read(ProcessingRequest message, String decisionId, long arrivalNanos) {
    List<HeaderValue> list = message.getRequestHeaders().getHeaders().getHeadersList();
    Map<String, String> headers = HashMap.newHashMap(list.size());
    for (int i = 0; i < list.size(); i++) {
      HeaderValue header = list.get(i);
      headers.merge(header.getKey(), value(header), (first, next) -> first + "," + next);
    }
    String target = headers.getOrDefault(":path", "/");
    int question = target.indexOf('?');
    return new RequestHead(
        decisionId,
        headers.getOrDefault(GatewayNames.REQUEST_ID_HEADER, ""),
        headers.getOrDefault(":method", ""),
        question < 0 ? target : target.substring(0, question),
        question < 0 ? "" : target.substring(question + 1),
        headers,
        arrivalNanos,
        Identities.read(message, headers));
  }

  /** The declared body length, or -1 where the client sends chunks or nonsense. */
  public static long contentLength(RequestHead head) {
    String value = head.headers().get("content-length");
    if (value == null || value.isEmpty() || value.length() > 18) {
      return -1;
    }
    long length = 0;
    for (int i = 0; i < value.length(); i++) {
      int digit = value.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      length = length * 10 + digit;
    }
    return length;
  }

  /** In which shape a client of that path reads errors. */
  public static Dialect dialect(String path) {
    return path.startsWith(Operation.MESSAGES.path()) ? Dialect.ANTHROPIC : Dialect.OPENAI;
  }

  private static String value(HeaderValue header) {
    return header.getRawValue().isEmpty() ? header.getValue() : header.getRawValue().toStringUtf8();
  }
}
