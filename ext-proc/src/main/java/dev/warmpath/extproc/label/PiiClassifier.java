package dev.warmpath.extproc.label;

import java.util.List;
import java.util.SortedSet;

/**
 * Label {@code pii}: {@code present} with the kinds that were found, {@code absent}, or unknown
 * where something could not be read. What is found counts even where the rest was cut off.
 */
public final class PiiClassifier implements Classifier {
  public static final String PRESENT = "present";
  public static final String ABSENT = "absent";

  private final NationalIds nationalIds;

  public PiiClassifier() {
    this(NationalId.builtIn());
  }

  public PiiClassifier(List<NationalId> nationalIds) {
    this.nationalIds = new NationalIds(nationalIds);
  }

  @Override
  public String key() {
    return "pii";
  }

  @Override
  public Verdict classify(RequestText text) {
    BodyText body = text.normalized();
    PhoneNumbers phones = new PhoneNumbers();
    SortedSet<String> kinds =
        new PiiScanner(body.chars(), body.length(), nationalIds, phones).scan();
    if (!kinds.isEmpty()) {
      return new Verdict(PRESENT, List.copyOf(kinds), null);
    }
    if (body.cut()) {
      return Verdict.unknown("the text is longer than what is scanned");
    }
    if (body.opaque()) {
      return Verdict.unknown("holds an image, audio, a file, encoded data or token ids");
    }
    if (phones.exhausted()) {
      return Verdict.unknown("too many candidates");
    }
    return Verdict.of(ABSENT);
  }
}
