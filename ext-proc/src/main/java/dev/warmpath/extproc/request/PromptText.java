package dev.warmpath.extproc.request;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The human-readable parts of a prompt, decoded only when asked for. Valid during the call that
 * received it, because it reads the request body.
 */
public final class PromptText {
  /** Whose words a part is. */
  public enum Speaker {
    SYSTEM,
    USER,
    ASSISTANT,
    TOOL
  }

  /** One string of the body: bytes {@code [start, end)}, quotes included. */
  record Part(Speaker speaker, int start, int end) {}

  /** Receives parts in order. */
  public interface Visitor {
    /** Returns false to stop. */
    boolean part(Speaker speaker, String text);
  }

  private final JsonScanner scanner;
  private final List<Part> parts;

  PromptText(JsonScanner scanner, List<Part> parts) {
    this.scanner = scanner;
    this.parts = parts;
  }

  /**
   * Visits the parts in the order of the conversation.
   *
   * @param maxBytesPerPart what is longer is cut, at a character's start
   */
  public void visit(int maxBytesPerPart, Visitor visitor) {
    for (Part part : parts) {
      if (!visitor.part(part.speaker(), decode(part, maxBytesPerPart))) {
        return;
      }
    }
  }

  /** Decoded bytes of all parts at most; an upper bound that costs nothing. */
  public long maxBytes() {
    long sum = 0;
    for (Part part : parts) {
      sum += part.end() - part.start() - 2;
    }
    return sum;
  }

  private String decode(Part part, int maxBytes) {
    int from = part.start() + 1;
    int to = part.end() - 1;
    byte[] out = new byte[to - from + EscapedText.SLACK];
    int n = scanner.escaped.decode(from, to, out, 0);
    if (n > maxBytes) {
      n = maxBytes;
      while (n > 0 && (out[n] & 0xC0) == 0x80) {
        n--;
      }
    }
    return new String(out, 0, n, StandardCharsets.UTF_8);
  }
}
