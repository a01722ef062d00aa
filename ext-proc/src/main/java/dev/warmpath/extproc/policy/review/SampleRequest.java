package dev.warmpath.extproc.policy.review;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request as a client would send it.
 *
 * @param path for example {@code /v1/chat/completions}
 * @param headers lower-case names
 * @param body JSON
 * @param tenant name, or namespace and name with a slash; null for nobody in particular
 */
@SuppressWarnings("ArrayRecordComponent") // bytes of a request; never compared
public record SampleRequest(
    String path, Map<String, String> headers, byte[] body, @Nullable String tenant) {
  public SampleRequest {
    headers = Map.copyOf(headers);
  }
}
