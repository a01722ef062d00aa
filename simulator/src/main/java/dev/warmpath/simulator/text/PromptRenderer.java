package dev.warmpath.simulator.text;

/**
 * A conversation in the order in which the engine computes it: tools first, then the messages, then
 * the opening of the answer.
 */
public final class PromptRenderer {
  private static final int IMAGE_TOKENS = 256;

  private final Tokenizer tokenizer;
  private final TokenBuffer tokens = new TokenBuffer();

  public PromptRenderer(Tokenizer tokenizer) {
    this.tokenizer = tokenizer;
  }

  public void startMessage(String role) {
    tokens.add(Tokenizer.MESSAGE_START);
    // One token for the role, whatever its length, as the usual names have.
    tokens.add(Math.floorMod(role.hashCode(), Tokenizer.VOCABULARY));
    text("\n");
  }

  public void text(String text) {
    tokenizer.encode(text, tokens);
  }

  /** An image costs a fixed number of tokens that depend on where it comes from. */
  public void image(String source) {
    int hash = source.hashCode();
    tokens.add(Tokenizer.IMAGE);
    for (int i = 1; i < IMAGE_TOKENS; i++) {
      tokens.add(Math.floorMod(hash * 31 + i * 0x9E3779B1, Tokenizer.VOCABULARY));
    }
  }

  public void endMessage() {
    tokens.add(Tokenizer.MESSAGE_END);
    text("\n");
  }

  /** The prompt with the answer of the assistant opened. */
  public TokenBuffer openAnswer() {
    startMessage("assistant");
    return tokens;
  }

  /** The prompt as it stands. */
  public TokenBuffer tokens() {
    return tokens;
  }
}
