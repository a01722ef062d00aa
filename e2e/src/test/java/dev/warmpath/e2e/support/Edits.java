package dev.warmpath.e2e.support;

/** The changes that the gateway may make to a body. */
public final class Edits {

  private Edits() {}

  /** Equal, or equal but for one insertion that asks for usage. */
  public static boolean isDocumented(String sent, String got) {
    if (sent.equals(got)) {
      return true;
    }
    if (got.length() <= sent.length()) {
      return false;
    }
    int head = 0;
    while (head < sent.length() && sent.charAt(head) == got.charAt(head)) {
      head++;
    }
    int tail = 0;
    while (tail < sent.length() - head
        && sent.charAt(sent.length() - 1 - tail) == got.charAt(got.length() - 1 - tail)) {
      tail++;
    }
    return head + tail == sent.length()
        && got.substring(head, got.length() - tail).contains("include_usage");
  }
}
