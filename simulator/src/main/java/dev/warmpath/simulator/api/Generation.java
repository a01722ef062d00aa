package dev.warmpath.simulator.api;

import dev.warmpath.simulator.text.TokenBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A request for an answer, read and checked.
 *
 * @param operation route
 * @param model model name as the request spelt it
 * @param prompts token ids of each prompt; empty buffers when prompts are only measured
 * @param promptTokens length of each prompt
 * @param answers what each choice will say: {@code n} for the first prompt, then {@code n} for the
 *     next
 * @param salt keeps the caches of different owners apart
 * @param stream answer as events
 * @param includeUsage end a stream with a usage chunk
 * @param continuousUsage put usage into every chunk
 * @param limit the request's own limit on answer tokens, or null
 * @param body the whole request, for fields that answers repeat
 */
public record Generation(
    Operation operation,
    String model,
    List<TokenBuffer> prompts,
    List<Integer> promptTokens,
    List<Answer> answers,
    long salt,
    boolean stream,
    boolean includeUsage,
    boolean continuousUsage,
    @Nullable Integer limit,
    JsonNode body) {
  /** Choices per prompt. */
  public int choices() {
    return answers.size() / promptTokens.size();
  }

  /** Tokens of all prompts together. */
  public int totalPromptTokens() {
    int sum = 0;
    for (int tokens : promptTokens) {
      sum += tokens;
    }
    return sum;
  }
}
