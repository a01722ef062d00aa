package dev.warmpath.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import tools.jackson.databind.JsonNode;

/** Decision records as a person reads them. */
final class DecisionView {
  private DecisionView() {}

  /** One decision: what was asked, who could serve it, who did, what came of it. */
  static List<String> one(JsonNode record) {
    List<String> out = new ArrayList<>();
    out.add(
        "decision %s  %s  %s".formatted(text(record, "id"), text(record, "at"), outcome(record)));
    out.add("request  " + (isRead(record) ? request(record) : unread(record)));
    JsonNode refusal = record.path("refusal");
    if (refusal.isObject()) {
      out.add(
          "refused  %s %s: %s"
              .formatted(text(refusal, "status"), text(refusal, "code"), text(refusal, "message")));
    }
    addCandidates(record, out);
    for (JsonNode removed : record.path("removed")) {
      out.add(
          "left out %s: %s%s%s"
              .formatted(
                  withGeneration(text(removed, "backend")),
                  text(removed, "cause").toLowerCase(Locale.ROOT).replace('_', ' '),
                  text(removed, "by").isEmpty() ? "" : " by " + withGeneration(text(removed, "by")),
                  text(removed, "detail").isEmpty() ? "" : ": " + text(removed, "detail")));
    }
    addPolicy(record.path("policy"), out);
    addResult(record, out);
    return out;
  }

  /** {@code default/qwen#3} at the beginning of a text, with what the number is said. */
  private static String withGeneration(String text) {
    return text.replaceFirst("^([^ #]+)#([0-9]+)", "$1 (generation $2)");
  }

  /** Whether its model and prompt were known when it ended. */
  private static boolean isRead(JsonNode record) {
    return !text(record, "model").isEmpty();
  }

  private static String request(JsonNode record) {
    return "%s for model %s%s, %s prompt tokens%s"
        .formatted(
            text(record, "operation"),
            text(record, "model"),
            record.path("upstreamModel").isString()
                    && !text(record, "upstreamModel").equals(text(record, "model"))
                ? " (" + text(record, "upstreamModel") + ")"
                : "",
            text(record, "promptTokens"),
            tenant(record));
  }

  /** What there is to say of a request that ended before anything of its body was known. */
  private static String unread(JsonNode record) {
    String operation = text(record, "operation");
    String what =
        record.path("refusal").isObject()
            ? "refused before its model and prompt were known"
            : "ended before its body was complete: the client left, or sent more than the limit";
    return (operation.isEmpty() ? "" : operation + ", ") + what + tenant(record);
  }

  private static String tenant(JsonNode record) {
    return text(record, "tenant").isEmpty() ? "" : ", tenant " + text(record, "tenant");
  }

  private static void addCandidates(JsonNode record, List<String> out) {
    JsonNode candidates = record.path("candidates");
    if (candidates.isEmpty()) {
      return;
    }
    Table table =
        new Table(
            "",
            "worker",
            ">predicted",
            ">cached",
            "known",
            ">in flight",
            ">queue",
            ">prefill",
            ">rest",
            ">sum");
    for (JsonNode one : candidates) {
      int rank = one.path("rank").asInt(0);
      double rest =
          one.path("frontEndSeconds").asDouble(0)
              + one.path("stepSeconds").asDouble(0)
              + one.path("memorySeconds").asDouble(0)
              + one.path("foreignSeconds").asDouble(0)
              + one.path("faultSeconds").asDouble(0);
      table.row(
          rank == 1 ? "->" : rank > 1 ? " " + rank : "",
          text(one, "worker"),
          seconds(
              one.path(
                  one.path("medianSeconds").isNumber() ? "medianSeconds" : "predictedSeconds")),
          text(one, "cachedTokens"),
          text(one, "cacheKnowledge").toLowerCase(Locale.ROOT),
          text(one, "inFlight"),
          seconds(one.path("queueSeconds")),
          seconds(one.path("workSeconds")),
          seconds(rest),
          seconds(one.path("predictedSeconds")));
    }
    table.lines().forEach(line -> out.add("  " + line));
    out.add("  sum: queue + prefill + rest; predicted: as sums of that size have turned out here");
    int more = record.path("candidateCount").asInt(0) - candidates.size();
    out.add(
        "  chosen by "
            + text(record, "algorithm")
            + (more > 0
                ? " among " + text(record, "candidateCount") + "; the rest is not shown"
                : "")
            + ", in "
            + text(record, "decisionMicros").replaceFirst("\\..*", "")
            + " us");
  }

  private static void addPolicy(JsonNode policy, List<String> out) {
    if (policy.path("decidedBy").isString()) {
      out.add("policy   " + withGeneration(text(policy, "decidedBy")));
    }
    JsonNode labels = policy.path("labels");
    if (labels.isObject() && !labels.isEmpty()) {
      StringJoiner joined = new StringJoiner(", ");
      labels
          .properties()
          .forEach(label -> joined.add(label.getKey() + "=" + label.getValue().asString("")));
      out.add("labels   " + joined);
    }
    for (JsonNode failure : policy.path("failures")) {
      out.add("failed   " + withGeneration(failure.asString("")));
    }
  }

  private static void addResult(JsonNode record, List<String> out) {
    JsonNode attempts = record.path("attempts");
    if (attempts.size() > 1) {
      StringJoiner joined = new StringJoiner(", then ");
      attempts.forEach(attempt -> joined.add(text(attempt, "worker")));
      out.add("attempts " + joined);
    }
    StringJoiner result = new StringJoiner(", ");
    if (record.path("actualTtftSeconds").isNumber()) {
      String predicted =
          record.path("predictedTtftSeconds").isNumber()
              ? " (predicted " + seconds(record.path("predictedTtftSeconds")) + ")"
              : "";
      result.add("first token after " + seconds(record.path("actualTtftSeconds")) + predicted);
    }
    JsonNode usage = record.path("usage");
    if (usage.path("promptTokens").isNumber()) {
      result.add(
          "%s prompt tokens, %s of them cached, %s out"
              .formatted(
                  text(usage, "promptTokens"),
                  usage.path("cachedTokens").isNumber() ? text(usage, "cachedTokens") : "?",
                  usage.path("completionTokens").isNumber()
                      ? text(usage, "completionTokens")
                      : "?"));
    }
    if (record.path("totalSeconds").isNumber()) {
      result.add("all in " + seconds(record.path("totalSeconds")));
    }
    if (result.length() > 0) {
      out.add("result   " + result);
    }
  }

  /** Many decisions, one a line. */
  static List<String> list(JsonNode records) {
    if (records.isEmpty()) {
      return List.of("no decision yet");
    }
    Table table =
        new Table(
            "time",
            "id",
            "model",
            ">prompt",
            ">cached",
            "worker",
            ">predicted",
            ">actual",
            "outcome");
    for (JsonNode record : records) {
      JsonNode attempts = record.path("attempts");
      JsonNode usage = record.path("usage");
      String at = text(record, "at");
      table.row(
          at.length() >= 23 ? at.substring(11, 23) : at,
          text(record, "id"),
          isRead(record) ? text(record, "model") : "(not read)",
          isRead(record) ? text(record, "promptTokens") : "",
          usage.path("cachedTokens").isNumber() ? text(usage, "cachedTokens") : "",
          attempts.isEmpty() ? "" : text(attempts.get(attempts.size() - 1), "worker"),
          seconds(record.path("predictedTtftSeconds")),
          seconds(record.path("actualTtftSeconds")),
          outcome(record));
    }
    return table.lines();
  }

  private static String outcome(JsonNode record) {
    JsonNode refusal = record.path("refusal");
    if (refusal.isObject()) {
      return "refused: " + text(refusal, "code");
    }
    return record.path("outcome").isString()
        ? text(record, "outcome").toLowerCase(Locale.ROOT).replace('_', ' ')
        : "running";
  }

  private static String text(JsonNode node, String field) {
    JsonNode value = node.path(field);
    return value.isMissingNode() || value.isNull() ? "" : value.asString("");
  }

  private static String seconds(JsonNode value) {
    return value.isNumber() ? seconds(value.asDouble()) : "";
  }

  /** Three significant figures, in ms below a second. */
  static String seconds(double value) {
    if (value < 0.0005) {
      return "0";
    }
    return value < 1
        ? String.format(Locale.ROOT, value < 0.1 ? "%.1f ms" : "%.0f ms", value * 1000)
        : String.format(Locale.ROOT, "%.2f s", value);
  }
}
