package dev.warmpath.extproc.route;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Answers of {@code /v1/models}, in the shape of the client's API. Names are sorted. What is served
 * has no creation date here, so both shapes carry the epoch, which their references allow.
 */
final class ModelList {
  private static final String JSON = "application/json";

  private ModelList() {}

  static Decision openAiList(List<String> models) {
    StringBuilder out = new StringBuilder("{\"object\":\"list\",\"data\":[");
    for (int i = 0; i < models.size(); i++) {
      out.append(i == 0 ? "" : ",").append(openAi(models.get(i)));
    }
    return answer(out.append("]}"));
  }

  static Decision openAiModel(String model) {
    return answer(new StringBuilder(openAi(model)));
  }

  static Decision anthropicList(List<String> models) {
    StringBuilder out = new StringBuilder("{\"data\":[");
    for (int i = 0; i < models.size(); i++) {
      out.append(i == 0 ? "" : ",").append(anthropic(models.get(i)));
    }
    String first = models.isEmpty() ? "null" : JsonText.quote(models.getFirst());
    String last = models.isEmpty() ? "null" : JsonText.quote(models.getLast());
    return answer(
        out.append("],\"has_more\":false,\"first_id\":")
            .append(first)
            .append(",\"last_id\":")
            .append(last)
            .append('}'));
  }

  static Decision anthropicModel(String model) {
    return answer(new StringBuilder(anthropic(model)));
  }

  private static String openAi(String model) {
    return "{\"id\":"
        + JsonText.quote(model)
        + ",\"object\":\"model\",\"created\":0,\"owned_by\":\"warmpath\"}";
  }

  private static String anthropic(String model) {
    String name = JsonText.quote(model);
    return "{\"type\":\"model\",\"id\":"
        + name
        + ",\"display_name\":"
        + name
        + ",\"created_at\":\"1970-01-01T00:00:00Z\"}";
  }

  private static Decision answer(StringBuilder json) {
    return new Decision.Answered(200, JSON, json.toString().getBytes(StandardCharsets.UTF_8));
  }
}
