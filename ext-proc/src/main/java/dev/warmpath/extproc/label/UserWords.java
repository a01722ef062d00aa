package dev.warmpath.extproc.label;

import java.util.List;

/** The last user message as words. */
final class UserWords {
  private UserWords() {}

  /** Its text, cut at {@code maxChars}; parts are separated by line feeds. */
  static String of(BodyText body, int maxChars) {
    int[] spans = body.lastUserText();
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < spans.length && text.length() < maxChars; i += 2) {
      int end = Math.min(spans[i + 1], spans[i] + maxChars - text.length());
      text.append(body.chars(), spans[i], end - spans[i]).append('\n');
    }
    return text.toString();
  }

  static int count(String text) {
    int words = 0;
    boolean inWord = false;
    for (int i = 0; i < text.length(); i++) {
      boolean space = text.charAt(i) <= ' ';
      words += !space && !inWord ? 1 : 0;
      inWord = !space;
    }
    return words;
  }

  /** How many of these occur, at the start of a word. */
  static int hits(String lower, List<String> words) {
    int hits = 0;
    for (String word : words) {
      int at = lower.indexOf(word);
      while (at > 0 && Character.isLetterOrDigit(lower.charAt(at - 1))) {
        at = lower.indexOf(word, at + 1);
      }
      hits += at >= 0 ? 1 : 0;
    }
    return hits;
  }

  static boolean mostlyLatin(String text) {
    int latin = 0;
    int other = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < 0x250 && Character.isLetter(c)) {
        latin++;
      } else if (c >= 0x370 && Character.isLetter(c)) {
        other++;
      }
    }
    return latin >= other;
  }
}
