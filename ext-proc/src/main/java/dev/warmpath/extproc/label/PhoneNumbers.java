package dev.warmpath.extproc.label;

import com.google.i18n.phonenumbers.NumberParseException;
import com.google.i18n.phonenumbers.PhoneNumberUtil;
import java.util.List;

/**
 * Asks libphonenumber about candidates that already look like a telephone number. It is the costly
 * part of a scan, so there is a limit for one text; beyond it the scan counts as cut.
 */
final class PhoneNumbers {
  private static final int MAX_QUESTIONS = 100;

  /** Regions whose national form counts where a word such as "phone" stands before it. */
  private static final List<String> REGIONS = List.of("US", "GB", "DE", "FR", "IN", "BR", "JP");

  private final PhoneNumberUtil library = PhoneNumberUtil.getInstance();
  private int questions;
  private boolean exhausted;

  boolean isInternational(String digits) {
    return valid("+" + digits, "ZZ");
  }

  boolean isNorthAmerican(String digits) {
    String ten = digits.length() == 11 ? digits.substring(1) : digits;
    return ten.charAt(0) >= '2' && ten.charAt(3) >= '2' && valid(ten, "US");
  }

  boolean isNational(String digits) {
    for (String region : REGIONS) {
      if (valid(digits, region)) {
        return true;
      }
    }
    return false;
  }

  /** Some candidate was not looked at. */
  boolean exhausted() {
    return exhausted;
  }

  private boolean valid(String number, String region) {
    if (questions++ >= MAX_QUESTIONS) {
      exhausted = true;
      return false;
    }
    try {
      return library.isValidNumber(library.parse(number, region));
    } catch (NumberParseException e) {
      return false;
    }
  }
}
