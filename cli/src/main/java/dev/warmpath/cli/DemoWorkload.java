package dev.warmpath.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * The shared-prefix workload: each request is one of a few long documents and a short question of
 * its own. Arrivals are a Poisson process. Everything follows from the seed.
 */
final class DemoWorkload {
  static final int PREFIXES = 24;
  static final int PREFIX_TOKENS = 16_000;
  static final int UNIQUE_TOKENS = 256;
  static final int ANSWER_TOKENS = 256;

  /** Words of at most five letters: with its space, each is one token of the simulated workers. */
  private static final String[] WORDS =
      ("time year day way man thing woman life child world case part place week work fact group"
              + " point home water room area money story month lot right study book eye job word"
              + " issue side kind head house power hour game line end law car city name team idea"
              + " body back face level door art war party mind light voice price truth stone river"
              + " cloud paper seven north green early plain sharp quiet brave")
          .split(" ");

  private final List<String> prefixes = new ArrayList<>();
  private final List<Request> requests = new ArrayList<>();

  /** One request: when it is sent, after the first moment, and which document it is about. */
  record Request(long arrivalNanos, int prefix, String question) {}

  DemoWorkload(long seed, int count, double ratePerSecond) {
    Random random = new Random(seed);
    for (int i = 0; i < PREFIXES; i++) {
      prefixes.add(words(random, PREFIX_TOKENS));
    }
    double at = 0;
    for (int i = 0; i < count; i++) {
      at += -Math.log(1 - random.nextDouble()) / ratePerSecond;
      requests.add(
          new Request((long) (at * 1e9), random.nextInt(PREFIXES), words(random, UNIQUE_TOKENS)));
    }
  }

  private static String words(Random random, int count) {
    StringBuilder text = new StringBuilder(count * 5);
    for (int i = 0; i < count; i++) {
      text.append(i == 0 ? "" : " ").append(WORDS[random.nextInt(WORDS.length)]);
    }
    return text.toString();
  }

  List<Request> requests() {
    return requests;
  }

  /** The body as an application would send it. */
  String body(Request request) {
    return body(prefixes.get(request.prefix()), request.question(), ANSWER_TOKENS);
  }

  static String body(String document, String question, int answerTokens) {
    return String.format(
        Locale.ROOT,
        "{\"model\":\"%s\",\"stream\":true,\"stream_options\":{\"include_usage\":true},"
            + "\"max_tokens\":%d,\"messages\":[{\"role\":\"system\",\"content\":\"%s\"},"
            + "{\"role\":\"user\",\"content\":\"%s\"}]}",
        DemoCommand.MODEL,
        answerTokens,
        document,
        question);
  }

  /** Prompts that no request of the workload shares a beginning with. */
  static List<String> warmUp(long seed, int count) {
    Random random = new Random(~seed);
    List<String> bodies = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      bodies.add(body(words(random, PREFIX_TOKENS), words(random, UNIQUE_TOKENS), 4));
    }
    return bodies;
  }
}
