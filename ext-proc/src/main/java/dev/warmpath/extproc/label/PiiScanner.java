package dev.warmpath.extproc.label;

import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Finds personal data and secrets in normalised text: one pass, and work only where a digit, an at
 * sign, a colon or the start of a word calls for it. What has a checksum must pass it. One scanner
 * scans one text.
 */
final class PiiScanner {
  private static final int CONTEXT_CHARS = 40;

  /** Digits of the shortest number that means a person, IPv4 addresses apart. */
  private static final int SHORTEST = 7;

  private final char[] text;
  private final int length;
  private final NationalIds nationalIds;
  private final PhoneNumbers phones;
  private final TreeSet<String> kinds = new TreeSet<>();
  private final DigitGroups groups;

  PiiScanner(char[] text, int length, NationalIds nationalIds, PhoneNumbers phones) {
    this.text = text;
    this.length = length;
    this.nationalIds = nationalIds;
    this.phones = phones;
    this.groups = new DigitGroups(text, length);
  }

  /** The kinds that were found, sorted. */
  SortedSet<String> scan() {
    boolean inWord = false;
    int i = 0;
    while (i < length) {
      char c = text[i];
      if (c >= '0' && c <= '9') {
        // A word that starts with a digit is no key; the digits of one that doesn't are looked at.
        inWord = true;
        i = digits(i);
        continue;
      }
      boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (letter) {
        if (!inWord && ApiKeys.at(text, length, i)) {
          kinds.add("api-key");
        }
        inWord = true;
      } else {
        inWord = c == '_';
        if (c == '@') {
          if (Emails.at(text, length, i)) {
            kinds.add("email");
          }
        } else if (c == ':') {
          if (IpAddresses.v6At(text, length, i)) {
            kinds.add("ip-address");
          }
        } else if (isLineBreak(c)) {
          if (WrappedCards.at(text, length, i)) {
            kinds.add("payment-card");
          }
        } else if (c == '-' && ApiKeys.privateKeyAt(text, length, i)) {
          kinds.add("api-key");
        }
      }
      i++;
    }
    return kinds;
  }

  /** The end of a line inside a string; the end of a string is a line feed. */
  static boolean isLineBreak(char c) {
    return c == '\r' || c == '\u0085';
  }

  /** Everything that starts with or is made of digits; gives where the scan goes on. */
  private int digits(int start) {
    if (Ibans.at(text, length, start)) {
      kinds.add("iban");
    }
    if (isLetter(start - 1) && Letters.codiceFiscale(text, length, start)) {
      kinds.add("national-id-it");
    }
    int end = groups.endOfLoneGroup(start);
    if (end >= 0 && end - start < SHORTEST) {
      return end; // most numbers
    }
    int next = groups.read(start);
    int last = groups.count() - 1;
    if (groups.digits(0, last) < SHORTEST && last < 3) {
      return next;
    }
    for (int from = 0; from <= last; from++) {
      for (int to = from; to <= last && groups.digits(from, to) <= 19; to++) {
        window(from, to);
      }
      if (Letters.spanishDni(text, length, groups.start(from), groups.end(from))) {
        kinds.add("national-id-es");
      }
    }
    phone(last);
    return next;
  }

  private void window(int from, int to) {
    if (groups.isDottedQuad(from, to)
        && !groups.tainted(from, to)
        && IpAddresses.isPersonalV4(text, groups, from)) {
      kinds.add("ip-address");
    }
    int digits = groups.digits(from, to);
    if (digits < SHORTEST || groups.tainted(from, to)) {
      return;
    }
    if (digits >= 14
        && groups.cardShape(from, to)
        && Checksums.paymentCard(groups.values(), groups.offset(from), digits)) {
      kinds.add("payment-card");
    }
    if (digits == 9 && isSsn(from, to)) {
      kinds.add("us-ssn");
    }
    for (NationalIds.Written written : nationalIds.withDigits(digits)) {
      NationalId id = written.id();
      if (groups.hasShape(from, to, written.shape())
          && (id.context().isEmpty() || hasContext(groups.start(from), id.context()))
          && id.check().valid(groups.values(), groups.offset(from))) {
        kinds.add(id.kind());
      }
    }
  }

  private static final List<String> SSN_WORDS = List.of("ssn", "social security", "soc sec");

  /** Areas 000, 666 and 9xx, group 00 and serial 0000 were never issued. */
  private boolean isSsn(int from, int to) {
    boolean written = groups.isSsnShape(from, to);
    boolean plain = from == to && hasContext(groups.start(from), SSN_WORDS);
    if (!written && !plain) {
      return false;
    }
    int area = groups.number(from, 0, 3);
    return area != 0
        && area != 666
        && area < 900
        && groups.number(from, 3, 2) != 0
        && groups.number(from, 5, 4) != 0;
  }

  private static final List<String> PHONE_WORDS =
      List.of(
          "phone", "tel", "mobile", "cell", "call", "fax", "whatsapp", "handy", "rufnummer", "sms");

  private void phone(int last) {
    if (kinds.contains("phone") || groups.isDecimal()) {
      return;
    }
    int start = groups.start(0);
    boolean international =
        groups.values()[0] != 0 // no country code starts with a zero
            && (isPlus(start - 1) || (at(start - 1) == '(' && isPlus(start - 2)));
    for (int from = 0; from <= last; from++) {
      for (int to = last; to >= from; to--) {
        int digits = groups.digits(from, to);
        if (digits < SHORTEST || digits > 15 || groups.tainted(from, to)) {
          continue;
        }
        boolean found =
            (international && from == 0 && digits >= 8 && phones.isInternational(digits(from, to)))
                || (groups.isNorthAmericanShape(from, to)
                    && phones.isNorthAmerican(digits(from, to)))
                || (from == 0
                    && to == last
                    && hasContext(groups.start(0), PHONE_WORDS)
                    && phones.isNational(digits(from, to)));
        if (found) {
          kinds.add("phone");
          return;
        }
      }
      if (from == 5) {
        return; // a telephone number does not stand that deep in a row of numbers
      }
    }
  }

  private String digits(int from, int to) {
    StringBuilder number = new StringBuilder(16);
    int offset = groups.offset(from);
    for (int i = 0; i < groups.digits(from, to); i++) {
      number.append((char) ('0' + groups.values()[offset + i]));
    }
    return number.toString();
  }

  private boolean isPlus(int index) {
    return at(index) == '+' && !Character.isLetterOrDigit(at(index - 1));
  }

  private boolean isLetter(int index) {
    return Character.isLetter(at(index));
  }

  private char at(int index) {
    return index < 0 || index >= length ? '\n' : text[index];
  }

  /** Whether one of these lower-case words stands shortly before. */
  private boolean hasContext(int before, List<String> words) {
    for (int i = Math.max(0, before - CONTEXT_CHARS); i < before; i++) {
      for (String word : words) {
        if (startsWith(i, before, word)) {
          return true;
        }
      }
    }
    return false;
  }

  private boolean startsWith(int from, int end, String word) {
    if (from + word.length() > end) {
      return false;
    }
    for (int k = 0; k < word.length(); k++) {
      char c = text[from + k];
      if ((c >= 'A' && c <= 'Z' ? c | 0x20 : c) != word.charAt(k)) {
        return false;
      }
    }
    return true;
  }
}
