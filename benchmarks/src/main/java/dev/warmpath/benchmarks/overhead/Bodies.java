package dev.warmpath.benchmarks.overhead;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Chat requests of a given size: half of the text is one of a few shared prefixes, the rest is
 * unique.
 */
final class Bodies {
  private static final String[] WORDS = {
    "river", "window", "copper", "forest", "signal", "planet", "garden", "letter", "winter",
        "engine",
    "market", "silver", "bridge", "stone", "pocket", "number", "simple", "random", "paper", "cloud"
  };
  private static final int PREFIXES = 8;

  private Bodies() {}

  /**
   * @param bytes size of each body, reached within a word
   * @param count different bodies
   */
  static List<byte[]> chat(int bytes, int count, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    String head =
        "{\"model\":\"bench\",\"stream\":true,\"max_tokens\":5,\"messages\":[{\"role\":\"system\",\"content\":\"";
    String middle = "\"},{\"role\":\"user\",\"content\":\"";
    String tail = "\"}]}";
    int text = Math.max(64, bytes - head.length() - middle.length() - tail.length());
    List<String> prefixes = new ArrayList<>();
    for (int i = 0; i < PREFIXES; i++) {
      prefixes.add(words(random, text / 2));
    }
    List<byte[]> bodies = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String body =
          head + prefixes.get(i % PREFIXES) + middle + words(random, text - text / 2) + tail;
      bodies.add(body.getBytes(StandardCharsets.UTF_8));
    }
    return bodies;
  }

  private static String words(SplittableRandom random, int length) {
    StringBuilder text = new StringBuilder(length + 8);
    while (text.length() < length) {
      text.append(WORDS[random.nextInt(WORDS.length)]).append(' ');
    }
    text.setLength(length);
    return text.toString();
  }
}
