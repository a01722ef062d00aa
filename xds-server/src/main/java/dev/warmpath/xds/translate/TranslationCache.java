package dev.warmpath.xds.translate;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The last few translations under each name, so that one changed worker costs one translation and
 * not thousands. Several, because gateways in different stages of a change alternate.
 *
 * <p>Not thread-safe: the control thread translates.
 */
final class TranslationCache {
  private static final int KEPT_FOR_EACH_NAME = 3;

  /** Names that nobody asked for in so many rounds are forgotten. */
  private static final int KEPT_ROUNDS = 1000;

  private final Map<String, Entry> byName = new HashMap<>();
  private long round;

  private static final class Entry {
    final Deque<Translation> translations = new ArrayDeque<>();
    long lastUsed;
  }

  private record Translation(Object source, XdsResource result) {}

  void nextRound() {
    round++;
    if (round % KEPT_ROUNDS == 0) {
      byName.values().removeIf(entry -> round - entry.lastUsed >= KEPT_ROUNDS);
    }
  }

  XdsResource get(XdsType type, String name, Object source, Supplier<XdsResource> translation) {
    Entry entry = byName.computeIfAbsent(type + " " + name, n -> new Entry());
    entry.lastUsed = round;
    for (Translation known : entry.translations) {
      if (known.source.equals(source)) {
        return known.result;
      }
    }
    XdsResource result = translation.get();
    entry.translations.addFirst(new Translation(source, result));
    if (entry.translations.size() > KEPT_FOR_EACH_NAME) {
      entry.translations.removeLast();
    }
    return result;
  }
}
