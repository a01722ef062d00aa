package dev.warmpath.extproc.response;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Finds the first server-sent event that is a token or an error. Bytes may be split anywhere. Not
 * thread-safe; one for each response.
 *
 * <p>Which events count as the first token:
 *
 * <ul>
 *   <li>chat and completions: the first {@code data} that isn't an error; engines send the role
 *       delta with the first engine output;
 *   <li>Anthropic messages: {@code message_start}, which engines also send with the first output;
 *       {@code ping} doesn't count;
 *   <li>Responses: the first {@code *.delta}; {@code response.created} is sent before any work.
 * </ul>
 */
public final class FirstEventScanner {
  /** A longer event is no error: engines' error messages stay far below. */
  static final int MAX_EVENT_BYTES = 16 * 1024;

  private static final JsonFactory JSON = new JsonFactory();
  private static final FirstEvent UNDECIDED = new FirstEvent.Undecided();
  private static final FirstEvent TOKEN = new FirstEvent.Token();
  private static final FirstEvent ENDED = new FirstEvent.Ended();
  private static final int UNKNOWN_CODE = 500;
  private static final int OVERLOADED_CODE = 529;

  /** In the Messages API vLLM tells of an error by the error that it had in reading it. */
  private static final Pattern QUOTED_CODE = Pattern.compile("'code': ([1-5][0-9][0-9])\\b");

  private byte[] pending = new byte[1024];
  private int length;

  /** Reads on. After any answer but {@link FirstEvent.Undecided} the scanner is spent. */
  public FirstEvent feed(ByteBuffer bytes) {
    int start = 0;
    while (bytes.hasRemaining()) {
      int taken = take(bytes);
      int end;
      while ((end = eventEnd(start)) >= 0) {
        FirstEvent event = read(start, end);
        if (!(event instanceof FirstEvent.Undecided)) {
          return event;
        }
        start = end;
      }
      System.arraycopy(pending, start, pending, 0, length - start);
      length -= start;
      start = 0;
      if (taken == 0 && length == MAX_EVENT_BYTES) {
        return TOKEN;
      }
    }
    return UNDECIDED;
  }

  private int take(ByteBuffer bytes) {
    int count = Math.min(bytes.remaining(), MAX_EVENT_BYTES - length);
    if (length + count > pending.length) {
      pending =
          Arrays.copyOf(
              pending, Math.min(MAX_EVENT_BYTES, Math.max(length + count, 2 * pending.length)));
    }
    bytes.get(pending, length, count);
    length += count;
    return count;
  }

  /** Index behind the blank line that ends the event at {@code start}, or -1. */
  private int eventEnd(int start) {
    for (int i = start; i < length; i++) {
      if (pending[i] != '\n') {
        continue;
      }
      int next = i + 1;
      if (next < length && pending[next] == '\r') {
        next++;
      }
      if (next < length && pending[next] == '\n') {
        return next + 1;
      }
    }
    return -1;
  }

  private FirstEvent read(int start, int end) {
    String name = null;
    StringBuilder data = new StringBuilder();
    String text = new String(pending, start, end - start, StandardCharsets.UTF_8);
    for (String line : text.lines().toList()) {
      if (line.startsWith("event:")) {
        name = line.substring(6).strip();
      } else if (line.startsWith("data:")) {
        data.append(line, 5, line.length());
      }
    }
    return judge(name, data.toString().strip());
  }

  private static FirstEvent judge(@Nullable String eventName, String data) {
    if (data.isEmpty()) {
      return UNDECIDED;
    }
    if (data.equals("[DONE]")) {
      return ENDED;
    }
    String name = eventName == null ? leadingType(data) : eventName;
    if (name.equals("error") || name.equals("response.failed") || data.contains("\"error\"")) {
      int code = errorCode(data);
      if (code > 0) {
        return new FirstEvent.Failed(code);
      }
      if (name.equals("error") || name.equals("response.failed")) {
        return new FirstEvent.Failed(UNKNOWN_CODE);
      }
    }
    if (name.startsWith("response.")) {
      return name.endsWith(".delta")
              || name.equals("response.completed")
              || name.equals("response.incomplete")
          ? TOKEN
          : UNDECIDED;
    }
    return name.equals("ping") ? UNDECIDED : TOKEN;
  }

  /** The value of a {@code type} member that stands first. */
  private static String leadingType(String data) {
    String prefix = "{\"type\":";
    String compact = data.length() > 80 ? data.substring(0, 80) : data;
    compact = compact.replace(" ", "");
    if (!compact.startsWith(prefix + '"')) {
      return "";
    }
    int end = compact.indexOf('"', prefix.length() + 1);
    return end < 0 ? "" : compact.substring(prefix.length() + 1, end);
  }

  /** The code of a top-level {@code error} object, or 0 where there is none. */
  private static int errorCode(String data) {
    try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), data)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return 0;
      }
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        boolean error = parser.currentName().equals("error");
        JsonToken value = parser.nextToken();
        if (error && value == JsonToken.START_OBJECT) {
          return readCode(parser);
        }
        if (error && value == JsonToken.VALUE_STRING) {
          return UNKNOWN_CODE;
        }
        parser.skipChildren();
      }
      return 0;
    } catch (JacksonException e) {
      return 0;
    }
  }

  private static int readCode(JsonParser parser) {
    int code = UNKNOWN_CODE;
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String member = parser.currentName();
      JsonToken value = parser.nextToken();
      if (member.equals("code") && value == JsonToken.VALUE_NUMBER_INT) {
        code = parser.getIntValue();
      } else if (member.equals("code") && value == JsonToken.VALUE_STRING) {
        code = numeric(parser.getString(), code);
      } else if (member.equals("type") && value == JsonToken.VALUE_STRING) {
        code = parser.getString().equals("overloaded_error") ? OVERLOADED_CODE : code;
      } else if (member.equals("message") && value == JsonToken.VALUE_STRING) {
        Matcher quoted = QUOTED_CODE.matcher(parser.getString());
        code = code == UNKNOWN_CODE && quoted.find() ? Integer.parseInt(quoted.group(1)) : code;
      }
      parser.skipChildren();
    }
    return code;
  }

  private static int numeric(String text, int otherwise) {
    return text.matches("[1-5][0-9][0-9]") ? Integer.parseInt(text) : otherwise;
  }
}
