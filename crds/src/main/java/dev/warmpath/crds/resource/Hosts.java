package dev.warmpath.crds.resource;

import java.util.regex.Pattern;

/** The forms of addresses and host names; nothing is looked up. */
final class Hosts {
  private static final Pattern IPV4 =
      Pattern.compile("((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(\\.(?!$)|$)){4}");
  private static final Pattern LABEL =
      Pattern.compile("[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?");
  private static final Pattern HEX_GROUP = Pattern.compile("[0-9A-Fa-f]{1,4}");
  private static final int IPV6_GROUPS = 8;

  private Hosts() {}

  static boolean isIpLiteral(String text) {
    return IPV4.matcher(text).matches() || isIpv6(text);
  }

  /** A DNS name; what looks like numbers only is a mistyped address, not a name. */
  static boolean isHostName(String text) {
    String name = text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
    if (name.isEmpty() || name.length() > 253) {
      return false;
    }
    String[] labels = name.split("\\.", -1);
    for (String label : labels) {
      if (!LABEL.matcher(label).matches()) {
        return false;
      }
    }
    return !labels[labels.length - 1].chars().allMatch(c -> c >= '0' && c <= '9');
  }

  private static boolean isIpv6(String text) {
    int gap = text.indexOf("::");
    if (gap < 0) {
      return groups(text) == IPV6_GROUPS;
    }
    String before = text.substring(0, gap);
    String after = text.substring(gap + 2);
    if (after.contains("::")) {
      return false;
    }
    int first = before.isEmpty() ? 0 : groups(before);
    int second = after.isEmpty() ? 0 : groups(after);
    return first >= 0 && second >= 0 && first + second < IPV6_GROUPS;
  }

  /** How many 16-bit groups the text has, the last two possibly as IPv4; -1 if it has others. */
  private static int groups(String text) {
    String[] parts = text.split(":", -1);
    int count = 0;
    for (int i = 0; i < parts.length; i++) {
      if (i == parts.length - 1 && IPV4.matcher(parts[i]).matches()) {
        count += 2;
      } else if (HEX_GROUP.matcher(parts[i]).matches()) {
        count++;
      } else {
        return -1;
      }
    }
    return count;
  }
}
