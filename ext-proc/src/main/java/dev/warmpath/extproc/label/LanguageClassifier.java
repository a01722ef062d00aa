package dev.warmpath.extproc.label;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Label {@code language}: the ISO 639-1 code of the last user message. By script where a script has
 * one language, else by the most frequent small words of nine languages. Abstains below four words,
 * and where two languages are close.
 */
final class LanguageClassifier implements Classifier {
  private static final int MAX_CHARS = 8 * 1024;
  private static final int MIN_WORDS = 4;

  /** The winner must have this many times the words of the second. */
  private static final double MARGIN = 1.5;

  /** Words that are frequent in one language and rare in the others. */
  private static final Map<String, List<String>> SMALL_WORDS =
      new TreeMap<>(
          Map.of(
              "en", words("the and of to is you that it for with this are have what how can my"),
              "de",
                  words("der die und das ist nicht ich ein eine mit für auf den wie kann wir sie"),
              "fr", words("le la les des est et un une pour dans que qui ne pas je vous sur avec"),
              "es", words("el los las es y en que un una por con para como no mi está qué del"),
              "it", words("il lo gli di che è un una per con non sono come mi del della questo"),
              "pt", words("o os as é e em que um uma por com para como não meu você do da isso"),
              "nl", words("de het een en van is dat niet ik met voor op zijn hoe wat mijn kan"),
              "pl", words("i w na nie się to jest z do że jak co mój czy dla po ale tak"),
              "sv", words("och att det är en ett som på jag med för inte av hur vad kan min")));

  private static List<String> words(String text) {
    return List.of(text.split(" ", -1));
  }

  @Override
  public String key() {
    return "language";
  }

  @Override
  public Verdict classify(RequestText text) {
    String message = UserWords.of(text.normalized(), MAX_CHARS);
    if (message.isBlank()) {
      return Verdict.unknown("no user text");
    }
    String script = byScript(message);
    if (script != null) {
      return Verdict.of(script);
    }
    String[] words = message.toLowerCase(Locale.ROOT).split("[^\\p{L}]+", 2000);
    if (words.length < MIN_WORDS || !UserWords.mostlyLatin(message)) {
      return Verdict.unknown("too few words");
    }
    String best = "";
    int most = 0;
    int second = 0;
    for (Map.Entry<String, List<String>> language : SMALL_WORDS.entrySet()) {
      int hits = 0;
      for (String word : words) {
        hits += language.getValue().contains(word) ? 1 : 0;
      }
      if (hits > most) {
        second = most;
        most = hits;
        best = language.getKey();
      } else {
        second = Math.max(second, hits);
      }
    }
    return most >= 2 && most >= MARGIN * second
        ? Verdict.of(best)
        : Verdict.unknown("no language stands out");
  }

  /** Scripts that are written in one language, when more than half of the letters are in one. */
  private static @org.jspecify.annotations.Nullable String byScript(String message) {
    int letters = 0;
    int han = 0;
    int kana = 0;
    int hangul = 0;
    int greek = 0;
    int hebrew = 0;
    int thai = 0;
    for (int i = 0; i < message.length(); i++) {
      char c = message.charAt(i);
      if (!Character.isLetter(c)) {
        continue;
      }
      letters++;
      switch (Character.UnicodeScript.of(c)) {
        case HAN -> han++;
        case HIRAGANA, KATAKANA -> kana++;
        case HANGUL -> hangul++;
        case GREEK -> greek++;
        case HEBREW -> hebrew++;
        case THAI -> thai++;
        default -> {}
      }
    }
    int half = letters / 2;
    if (kana > 0 && han + kana > half) {
      return "ja";
    }
    return han > half
        ? "zh"
        : hangul > half
            ? "ko"
            : greek > half ? "el" : hebrew > half ? "he" : thai > half ? "th" : null;
  }
}
