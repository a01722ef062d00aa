package dev.warmpath.simulator.api;

import dev.warmpath.simulator.text.TokenBuffer;
import dev.warmpath.simulator.text.Tokenizer;
import dev.warmpath.simulator.text.Words;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one choice of a response will say, known before the first token: made-up words, the user's
 * own text, or the arguments of a tool call.
 */
public final class Answer {
  /** Why an answer ends. */
  public enum Finish {
    STOP,
    LENGTH,
    TOOL_CALL
  }

  private final long seed;
  private final @Nullable List<String> pieces;
  private final int tokens;
  private final Finish finish;
  private final @Nullable String tool;

  private Answer(
      long seed, @Nullable List<String> pieces, int tokens, Finish finish, @Nullable String tool) {
    this.seed = seed;
    this.pieces = pieces;
    this.tokens = tokens;
    this.finish = finish;
    this.tool = tool;
  }

  /**
   * Words; {@code limit} is the request's own limit, {@code natural} where the model would stop.
   */
  static Answer words(long seed, int limit, int natural) {
    int tokens = Math.min(limit, natural);
    return new Answer(seed, null, tokens, limit <= natural ? Finish.LENGTH : Finish.STOP, null);
  }

  /** The text given, once. */
  static Answer echo(String text, int limit, Tokenizer tokenizer) {
    List<String> pieces = cut(text, tokenizer);
    boolean whole = pieces.size() <= limit;
    return new Answer(
        0, pieces, Math.min(pieces.size(), limit), whole ? Finish.STOP : Finish.LENGTH, null);
  }

  /** A call of {@code tool} with these arguments. */
  static Answer toolCall(String tool, String arguments, Tokenizer tokenizer) {
    List<String> pieces = cut(arguments, tokenizer);
    return new Answer(0, pieces, pieces.size(), Finish.TOOL_CALL, tool);
  }

  private static List<String> cut(String text, Tokenizer tokenizer) {
    TokenBuffer buffer = new TokenBuffer();
    tokenizer.encode(text, buffer);
    List<String> pieces = new ArrayList<>(Math.max(1, buffer.size()));
    int at = 0;
    for (int i = 0; i < buffer.size(); i++) {
      // Ids may collide, so the length comes from the piece and the text from the original.
      int end = i == buffer.size() - 1 ? text.length() : tokenizer.pieceEnd(text, at);
      pieces.add(text.substring(at, end));
      at = end;
    }
    if (pieces.isEmpty()) {
      pieces.add("");
    }
    return pieces;
  }

  public int tokens() {
    return tokens;
  }

  /** Whether the limit of the request ends the answer. */
  public boolean byLimit() {
    return finish == Finish.LENGTH;
  }

  Finish finish() {
    return finish;
  }

  @Nullable String tool() {
    return tool;
  }

  /** The text of token {@code index}. */
  String piece(int index) {
    return pieces == null ? Words.word(seed, index) : pieces.get(index);
  }

  /** The first {@code count} tokens as one text. */
  String text(int count) {
    StringBuilder text = new StringBuilder(count * 6);
    for (int i = 0; i < count; i++) {
      text.append(piece(i));
    }
    return text.toString();
  }

  /** Appends the token ids of the answer. */
  public void encode(Tokenizer tokenizer, TokenBuffer into) {
    for (int i = 0; i < tokens; i++) {
      tokenizer.encode(piece(i), into);
    }
  }
}
