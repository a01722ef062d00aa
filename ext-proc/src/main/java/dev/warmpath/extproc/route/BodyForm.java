package dev.warmpath.extproc.route;

import dev.warmpath.extproc.request.Dialect;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the head says of the form of the body. Only JSON as it is can be read, and so judged by
 * policies; anything else is told to the client before it uploads the rest.
 */
public final class BodyForm {
  /** The one name of JSON that every engine takes: vLLM refuses all others, and none at all. */
  public static final String JSON = "application/json";

  private static final Pattern QUOTED = Pattern.compile("\"[^\"]*\"");

  private BodyForm() {}

  /** The answer where the body is surely not plain JSON; null where it may be. */
  static @Nullable ApiError refused(Dialect dialect, RequestHead head) {
    String encoding = head.headers().getOrDefault("content-encoding", "");
    if (!isIdentity(encoding)) {
      return Refusals.wrongEncoding(dialect, encoding);
    }
    // A comma inside of a quoted parameter separates nothing.
    String contentType = QUOTED.matcher(contentType(head)).replaceAll("");
    for (String one : contentType.split(",", -1)) {
      String mediaType = mediaType(one);
      if (!isJson(mediaType)) {
        return Refusals.wrongMediaType(dialect, mediaType);
      }
    }
    return null;
  }

  /**
   * Whether the head names the body {@link #JSON}, with parameters or without. Where it was not
   * {@link #refused} and this is false, the body was read as JSON under another name or none, and
   * whoever gets it has to be told.
   */
  public static boolean isNamedJson(RequestHead head) {
    String contentType = contentType(head);
    int end = JSON.length();
    return contentType.regionMatches(true, 0, JSON, 0, end)
        && (contentType.length() == end
            || (contentType.charAt(end) == ';' && contentType.indexOf(',') < 0));
  }

  private static String contentType(RequestHead head) {
    return head.headers().getOrDefault("content-type", "");
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
    int semicolon = contentType.indexOf(';');
    String bare = semicolon < 0 ? contentType : contentType.substring(0, semicolon);
    return bare.strip().toLowerCase(Locale.ROOT);
  }

  /** JSON under any of its names, or no name: then the bytes tell. */
  private static boolean isJson(String mediaType) {
    return mediaType.isEmpty()
        || mediaType.equals(JSON)
        || mediaType.equals("text/json")
        || mediaType.endsWith("+json");
  }
}
