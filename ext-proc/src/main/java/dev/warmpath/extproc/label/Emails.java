package dev.warmpath.extproc.label;

import java.util.Locale;
import java.util.Set;

/** E-mail addresses around an at sign. */
final class Emails {
  /** What follows a scale suffix or package version: {@code icon@2x.png}, {@code lib@latest.js}. */
  private static final Set<String> FILE_ENDINGS =
      Set.of(
          "png",
          "jpg",
          "jpeg",
          "gif",
          "svg",
          "webp",
          "ico",
          "css",
          "scss",
          "js",
          "mjs",
          "cjs",
          "ts",
          "tsx",
          "jsx",
          "json",
          "yaml",
          "yml",
          "toml",
          "xml",
          "html",
          "htm",
          "txt",
          "csv",
          "pdf",
          "jar",
          "class",
          "java",
          "kt",
          "go",
          "py",
          "rb",
          "lock",
          "gz",
          "tgz",
          "whl",
          "map",
          "log",
          "service",
          "socket",
          "timer",
          "target",
          "local",
          "localhost",
          "internal",
          "cluster");

  private Emails() {}

  static boolean at(char[] text, int length, int at) {
    int start = at;
    while (start > 0 && at - start < 64 && isLocal(text[start - 1])) {
      start--;
    }
    while (start < at && (text[start] == '.' || text[start] == '-')) {
      start++;
    }
    if (start == at || text[at - 1] == '.' || (start > 1 && isUserInfo(text, start))) {
      return false;
    }
    int end = at + 1;
    int lastDot = -1;
    boolean labelEmpty = true;
    while (end < length && end - at < 255) {
      char c = text[end];
      if (c == '.') {
        if (labelEmpty) {
          break;
        }
        lastDot = end;
        labelEmpty = true;
      } else if (isAlphanumeric(c) || c == '-') {
        labelEmpty = false;
      } else {
        break;
      }
      end++;
    }
    if (labelEmpty && lastDot == end - 1) { // the full stop of a sentence
      end = lastDot;
      lastDot = lastDot(text, at + 1, end);
    }
    if (lastDot < 0 || end - lastDot - 1 < 2) {
      return false;
    }
    for (int i = lastDot + 1; i < end; i++) {
      if (!isLetter(text[i])) {
        return false;
      }
    }
    // user@host.example:path is how version control writes a remote.
    boolean remote =
        end + 1 < length
            && text[end] == ':'
            && (isLetter(text[end + 1]) || text[end + 1] == '/' || text[end + 1] == '~');
    String ending = new String(text, lastDot + 1, end - lastDot - 1).toLowerCase(Locale.ROOT);
    return !remote && !FILE_ENDINGS.contains(ending);
  }

  private static int lastDot(char[] text, int from, int end) {
    for (int i = end - 1; i >= from; i--) {
      if (text[i] == '.') {
        return i;
      }
    }
    return -1;
  }

  /** {@code https://user@host.example/}: part of an address on the net, not of a person. */
  private static boolean isUserInfo(char[] text, int start) {
    return text[start - 1] == '/' && text[start - 2] == '/';
  }

  private static boolean isLocal(char c) {
    return isAlphanumeric(c) || c == '.' || c == '_' || c == '%' || c == '+' || c == '-';
  }

  private static boolean isAlphanumeric(char c) {
    return isLetter(c) || (c >= '0' && c <= '9');
  }

  private static boolean isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
}
