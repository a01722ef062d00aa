package dev.warmpath.extproc.label;

import org.jspecify.annotations.Nullable;

/** The text of one request, read once, when the first classifier asks. Confined to one thread. */
public final class RequestText {
  /** Characters that are read: 2 Mi, far beyond any context window of text. */
  static final int DEFAULT_LIMIT = 2 << 20;

  private final byte[] body;
  private final int limit;
  private @Nullable BodyText read;

  public RequestText(byte[] body) {
    this(body, DEFAULT_LIMIT);
  }

  RequestText(byte[] body, int limit) {
    this.body = body;
    this.limit = limit;
  }

  /** The body as the client sent it. Not to be changed or kept. */
  byte[] body() {
    return body;
  }

  BodyText normalized() {
    BodyText text = read;
    if (text == null) {
      text = BodyText.read(body, limit);
      read = text;
    }
    return text;
  }
}
