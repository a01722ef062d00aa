package dev.warmpath.extproc.route;

import dev.warmpath.extproc.request.Dialect;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What the head says of the form of the body. Only JSON as it is can be read, and so judged by
 * policies; anything else is told to the client before it uploads the rest.
 */
final class BodyForm {
  private BodyForm() {}

  /** The answer where the body is surely not plain JSON; null where it may be. */
  static @Nullable ApiError refused(Dialect dialect, RequestHead head) {
    String encoding = head.headers().getOrDefault("content-encoding", "");
    if (!isIdentity(encoding)) {
      return Refusals.wrongEncoding(dialect, encoding);
    }
    String mediaType = mediaType(head.headers().getOrDefault("content-type", ""));
    return isJson(mediaType) ? null : Refusals.wrongMediaType(dialect, mediaType);
  }

  /** {@code identity} changes nothing; an empty value, as of a missing header, says nothing. */
  private static boolean isIdentity(String encoding) {
    for (String coding : encoding.split(",", -1)) {
      if (!coding.isBlank() && !coding.strip().equalsIgnoreCase("identity")) {
        return false;
      }
    }
    return true;
  }

  /** Without parameters: engines and providers take a charset or leave it. */
  private static String mediaType(String contentType) {
    int end = 0;
    while (end < contentType.length()
        && contentType.charAt(end) != ';'
        && contentType.charAt(end) != ',') {
      end++;
    }
    return contentType.substring(0, end).strip().toLowerCase(Locale.ROOT);
  }

  /** JSON under any of its names, or no name: then the bytes tell. */
  private static boolean isJson(String mediaType) {
    return mediaType.isEmpty()
        || mediaType.equals("application/json")
        || mediaType.equals("text/json")
        || mediaType.endsWith("+json");
  }
}
