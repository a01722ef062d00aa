package dev.warmpath.extproc.label;

import java.util.Locale;
import java.util.Map;

/** Check digits of payment cards, bank accounts and identity numbers. */
final class Checksums {
  /** Length by country: SWIFT's IBAN registry. */
  private static final Map<String, Integer> IBAN_LENGTHS = ibanLengths();

  private static final String ITALIAN_ODD = "BAKPLCQDREVOSFTGUHMINJWZYX";
  private static final int[][] VERHOEFF_D = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
    {1, 2, 3, 4, 0, 6, 7, 8, 9, 5},
    {2, 3, 4, 0, 1, 7, 8, 9, 5, 6},
    {3, 4, 0, 1, 2, 8, 9, 5, 6, 7},
    {4, 0, 1, 2, 3, 9, 5, 6, 7, 8},
    {5, 9, 8, 7, 6, 0, 4, 3, 2, 1},
    {6, 5, 9, 8, 7, 1, 0, 4, 3, 2},
    {7, 6, 5, 9, 8, 2, 1, 0, 4, 3},
    {8, 7, 6, 5, 9, 3, 2, 1, 0, 4},
    {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}
  };
  private static final int[][] VERHOEFF_P = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
    {1, 5, 7, 6, 2, 8, 3, 0, 9, 4},
    {5, 8, 0, 3, 7, 9, 6, 1, 4, 2},
    {8, 9, 1, 6, 0, 4, 3, 5, 2, 7},
    {9, 4, 5, 3, 1, 2, 6, 8, 7, 0},
    {4, 2, 8, 6, 5, 7, 3, 9, 0, 1},
    {2, 7, 9, 3, 8, 0, 6, 4, 1, 5},
    {7, 0, 4, 6, 9, 1, 3, 2, 5, 8}
  };

  private Checksums() {}

  /**
   * Luhn over {@code digits[from, from + count)}, and a prefix that an issuer of that length has.
   */
  static boolean paymentCard(byte[] digits, int from, int count) {
    return issued(digits, from, count) && luhn(digits, from, count);
  }

  static boolean luhn(byte[] digits, int from, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++) {
      int digit = digits[from + count - 1 - i];
      if ((i & 1) == 1) {
        digit *= 2;
        digit -= digit > 9 ? 9 : 0;
      }
      sum += digit;
    }
    return sum % 10 == 0;
  }

  /** Ranges in use by length; 13-digit cards are gone, and would match article numbers. */
  private static boolean issued(byte[] digits, int from, int count) {
    int four =
        digits[from] * 1000 + digits[from + 1] * 100 + digits[from + 2] * 10 + digits[from + 3];
    int two = four / 100;
    int three = four / 10;
    return switch (count) {
      case 14 -> (three >= 300 && three <= 305) || two == 36 || two == 38 || two == 39;
      case 15 -> two == 34 || two == 37;
      case 16 ->
          four / 1000 == 4
              || (two >= 51 && two <= 55)
              || (four >= 2221 && four <= 2720)
              || (four >= 2200 && four <= 2204)
              || four == 6011
              || two == 65
              || two == 62
              || (three >= 644 && three <= 649)
              || (four >= 3528 && four <= 3589)
              || (three >= 300 && three <= 305)
              || two == 36
              || two == 38
              || two == 81
              || two == 82
              || three == 508
              || isMaestro(four);
      case 19 -> four / 1000 == 4 || two == 62 || isMaestro(four);
      default -> false;
    };
  }

  private static boolean isMaestro(int four) {
    return four == 5018
        || four == 5020
        || four == 5038
        || four == 5893
        || four == 6304
        || four == 6759
        || (four >= 6761 && four <= 6763);
  }

  /** Length of that country's IBAN, or 0. */
  static int ibanLength(char first, char second) {
    return IBAN_LENGTHS.getOrDefault((String.valueOf(first) + second).toUpperCase(Locale.ROOT), 0);
  }

  /** ISO 7064 mod 97-10 over an IBAN in compact upper case. */
  static boolean iban(char[] iban, int length) {
    int remainder = 0;
    for (int i = 0; i < length; i++) {
      char c = iban[(i + 4) % length];
      remainder =
          c <= '9' ? (remainder * 10 + (c - '0')) % 97 : (remainder * 100 + (c - 'A' + 10)) % 97;
    }
    return remainder == 1;
  }

  /** Verhoeff, as Aadhaar numbers have it. */
  static boolean verhoeff(byte[] digits, int from, int count) {
    int check = 0;
    for (int i = 0; i < count; i++) {
      check = VERHOEFF_D[check][VERHOEFF_P[i & 7][digits[from + count - 1 - i]]];
    }
    return check == 0;
  }

  /** Two mod-11 check digits, as Brazil's CPF has them; all digits alike is none. */
  static boolean cpf(byte[] digits, int from) {
    boolean alike = true;
    for (int i = 1; i < 11; i++) {
      alike &= digits[from + i] == digits[from];
    }
    return !alike
        && mod11(digits, from, 9) == digits[from + 9]
        && mod11(digits, from, 10) == digits[from + 10];
  }

  private static int mod11(byte[] digits, int from, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++) {
      sum += digits[from + i] * (count + 1 - i);
    }
    int rest = sum * 10 % 11;
    return rest == 10 ? 0 : rest;
  }

  /** France's NIR: sex, year, month, place, number and a mod-97 key. */
  static boolean frenchNir(byte[] digits, int from) {
    int month = digits[from + 3] * 10 + digits[from + 4];
    if ((digits[from] != 1 && digits[from] != 2) || month < 1 || month > 12) {
      return false;
    }
    long number = 0;
    for (int i = 0; i < 13; i++) {
      number = number * 10 + digits[from + i];
    }
    return 97 - number % 97 == digits[from + 13] * 10L + digits[from + 14];
  }

  /** ISO 7064 mod 11,10, as Germany's tax number has it. */
  static boolean germanTaxId(byte[] digits, int from) {
    if (digits[from] == 0) {
      return false;
    }
    int product = 10;
    for (int i = 0; i < 10; i++) {
      int sum = (digits[from + i] + product) % 10;
      product = (sum == 0 ? 10 : sum) * 2 % 11;
    }
    int check = 11 - product;
    return (check == 10 ? 0 : check) == digits[from + 10];
  }

  /** Poland's PESEL, with its date of birth. */
  static boolean pesel(byte[] digits, int from) {
    int month = (digits[from + 2] * 10 + digits[from + 3]) % 20;
    int day = digits[from + 4] * 10 + digits[from + 5];
    int[] weights = {1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1};
    int sum = 0;
    for (int i = 0; i < 11; i++) {
      sum += digits[from + i] * weights[i];
    }
    return month >= 1 && month <= 12 && day >= 1 && day <= 31 && sum % 10 == 0;
  }

  /** The Netherlands' BSN: weights 9 to 2, the last digit minus one. */
  static boolean bsn(byte[] digits, int from) {
    int sum = -digits[from + 8];
    for (int i = 0; i < 8; i++) {
      sum += digits[from + i] * (9 - i);
    }
    return sum != 0 && sum % 11 == 0;
  }

  /** Letter of a Spanish DNI for its eight digits. */
  static char dniLetter(int number) {
    return "TRWAGMYFPDXBNJZSQVHLCKE".charAt(number % 23);
  }

  /** Check character of an Italian codice fiscale of 16 upper-case characters. */
  static boolean codiceFiscale(char[] code) {
    int sum = 0;
    for (int i = 0; i < 15; i++) {
      char c = code[i];
      int value = c <= '9' ? c - '0' : c - 'A';
      sum += (i & 1) == 1 ? value : ITALIAN_ODD.indexOf('A' + value);
    }
    return code[15] == 'A' + sum % 26;
  }

  private static Map<String, Integer> ibanLengths() {
    String registry =
        "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28"
            + " EE20 EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23"
            + " IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 MC27 MD24 ME22 MK19"
            + " MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19"
            + " SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 BI27 DJ27 LY25 NI28 RU33"
            + " SD18 SO23 MN20 FK18 OM23 YE30";
    Map<String, Integer> lengths = new java.util.HashMap<>();
    for (String entry : registry.split(" ", -1)) {
      lengths.put(entry.substring(0, 2), Integer.parseInt(entry.substring(2)));
    }
    return Map.copyOf(lengths);
  }
}
