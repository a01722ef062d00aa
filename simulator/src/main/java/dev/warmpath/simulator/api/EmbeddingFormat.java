package dev.warmpath.simulator.api;

import dev.warmpath.simulator.text.TokenBuffer;
import java.util.Locale;

/** {@code /v1/embeddings}: a vector per input that depends on its tokens alone. */
final class EmbeddingFormat implements ResponseFormat {
  private static final int DIMENSIONS = 64;

  private final Generation request;
  private final String id;
  private final long created;

  EmbeddingFormat(Generation request, String id, long created) {
    this.request = request;
    this.id = id;
    this.created = created;
  }

  @Override
  public void token(EventSink sink, int choice, int index) {}

  @Override
  public void end(EventSink sink, Usage usage) {}

  @Override
  public String whole(Usage usage) {
    StringBuilder out = new StringBuilder(256 + DIMENSIONS * 12 * request.prompts().size());
    out.append("{\"id\":")
        .append(Json.quote(id))
        .append(",\"object\":\"list\",\"created\":")
        .append(created)
        .append(",\"model\":")
        .append(Json.quote(request.model()))
        .append(",\"data\":[");
    for (int i = 0; i < request.prompts().size(); i++) {
      out.append(i > 0 ? "," : "")
          .append("{\"index\":")
          .append(i)
          .append(",\"object\":\"embedding\",\"embedding\":[");
      vector(out, request.prompts().get(i));
      out.append("]}");
    }
    return out.append("],\"usage\":{\"prompt_tokens\":")
        .append(usage.promptTokens())
        .append(",\"total_tokens\":")
        .append(usage.promptTokens())
        .append(",\"completion_tokens\":0,\"prompt_tokens_details\":null}}")
        .toString();
  }

  private static void vector(StringBuilder out, TokenBuffer tokens) {
    double[] values = new double[DIMENSIONS];
    double norm = 1e-9;
    for (int i = 0; i < tokens.size(); i++) {
      long mixed = (tokens.get(i) + 1L) * 0x9E3779B97F4A7C15L;
      values[(int) (mixed >>> 58)] += (mixed & 1) == 0 ? 1 : -1;
    }
    for (double value : values) {
      norm += value * value;
    }
    for (int i = 0; i < DIMENSIONS; i++) {
      out.append(i > 0 ? "," : "")
          .append(String.format(Locale.ROOT, "%.6f", values[i] / Math.sqrt(norm)));
    }
  }
}
