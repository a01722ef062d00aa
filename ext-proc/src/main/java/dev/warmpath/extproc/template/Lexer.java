package dev.warmpath.extproc.template;

import java.util.ArrayList;
import java.util.List;

/**
 * Splits a template into text and tags, and tags into tokens. Whitespace goes as engines configure
 * Jinja: a newline behind a block tag and blanks in front of one that begins its line are dropped,
 * besides what a minus in a tag drops.
 */
final class Lexer {
  /** A piece of a template. */
  sealed interface Piece {
    record Text(String text) implements Piece {}

    record Output(List<Token> tokens) implements Piece {}

    record Block(List<Token> tokens) implements Piece {}
  }

  /** Kind of a token of an expression. */
  enum Kind {
    NAME,
    STRING,
    INTEGER,
    REAL,
    OPERATOR,
    END
  }

  record Token(Kind kind, String text) {
    boolean is(String operator) {
      return kind == Kind.OPERATOR && text.equals(operator);
    }

    boolean named(String name) {
      return kind == Kind.NAME && text.equals(name);
    }
  }

  private static final List<String> OPERATORS =
      List.of(
          "==", "!=", "<=", ">=", "//", "**", "+", "-", "*", "/", "%", "~", "<", ">", "=", ".", ",",
          ":", "|", "(", ")", "[", "]", "{", "}");

  private final String source;
  private final List<Piece> pieces = new ArrayList<>();
  private boolean trimNext;
  private boolean newlineNext;

  private Lexer(String source) {
    this.source = source;
  }

  static List<Piece> split(String template) {
    String source = template.replace("\r\n", "\n").replace('\r', '\n');
    return new Lexer(source.endsWith("\n") ? source.substring(0, source.length() - 1) : source)
        .run();
  }

  private List<Piece> run() {
    int at = 0;
    while (at < source.length()) {
      int tag = nextTag(at);
      if (tag < 0) {
        text(source.substring(at), false, false);
        break;
      }
      char kind = source.charAt(tag + 1);
      char sign = tag + 2 < source.length() ? source.charAt(tag + 2) : ' ';
      text(source.substring(at, tag), sign == '-', kind != '{' && sign != '+');
      int inside = tag + 2 + (sign == '-' || sign == '+' ? 1 : 0);
      at = kind == '#' ? comment(inside) : tag(kind, inside);
    }
    return pieces;
  }

  private int nextTag(int from) {
    for (int i = source.indexOf('{', from); i >= 0; i = source.indexOf('{', i + 1)) {
      if (i + 1 < source.length() && "{%#".indexOf(source.charAt(i + 1)) >= 0) {
        return i;
      }
    }
    return -1;
  }

  /** Text up to a tag, less what the tags around it drop. */
  private void text(String raw, boolean strip, boolean stripLine) {
    String text = raw;
    if (trimNext) {
      text = text.stripLeading();
    } else if (newlineNext && text.startsWith("\n")) {
      text = text.substring(1);
    }
    boolean lineBegins = text.length() < raw.length() || pieces.isEmpty();
    if (strip) {
      text = text.stripTrailing();
    } else if (stripLine) {
      int end = text.length();
      while (end > 0 && (text.charAt(end - 1) == ' ' || text.charAt(end - 1) == '\t')) {
        end--;
      }
      if (end > 0 ? text.charAt(end - 1) == '\n' : lineBegins) {
        text = text.substring(0, end);
      }
    }
    trimNext = false;
    newlineNext = false;
    if (!text.isEmpty()) {
      pieces.add(new Piece.Text(text));
    }
  }

  private int comment(int from) {
    int end = source.indexOf("#}", from);
    if (end < 0) {
      throw new TemplateException("a comment has no end");
    }
    trimNext = source.charAt(end - 1) == '-';
    newlineNext = true;
    return end + 2;
  }

  private int tag(char kind, int from) {
    String close = kind == '{' ? "}}" : "%}";
    List<Token> tokens = new ArrayList<>();
    int at = from;
    int open = 0;
    while (true) {
      at = skipBlanks(at);
      if (at >= source.length()) {
        throw new TemplateException("a tag has no end");
      }
      boolean minus = source.startsWith("-" + close, at);
      if (open == 0 && (minus || source.startsWith(close, at))) {
        tokens.add(new Token(Kind.END, ""));
        pieces.add(kind == '{' ? new Piece.Output(tokens) : new Piece.Block(tokens));
        trimNext = minus;
        newlineNext = kind == '%';
        return at + (minus ? 3 : 2);
      }
      char c = source.charAt(at);
      open += "([{".indexOf(c) >= 0 ? 1 : ")]}".indexOf(c) >= 0 ? -1 : 0;
      at = token(at, tokens);
    }
  }

  private int skipBlanks(int from) {
    int at = from;
    while (at < source.length() && Character.isWhitespace(source.charAt(at))) {
      at++;
    }
    return at;
  }

  private int token(int at, List<Token> tokens) {
    char c = source.charAt(at);
    if (c == '\'' || c == '"') {
      return string(at, c, tokens);
    }
    if (Character.isDigit(c)) {
      int end = at;
      while (end < source.length()
          && (Character.isDigit(source.charAt(end)) || source.charAt(end) == '.')) {
        end++;
      }
      String number = source.substring(at, end);
      tokens.add(new Token(number.indexOf('.') < 0 ? Kind.INTEGER : Kind.REAL, number));
      return end;
    }
    if (Character.isJavaIdentifierStart(c) && c != '$') {
      int end = at;
      while (end < source.length() && Character.isJavaIdentifierPart(source.charAt(end))) {
        end++;
      }
      tokens.add(new Token(Kind.NAME, source.substring(at, end)));
      return end;
    }
    for (String operator : OPERATORS) {
      if (source.startsWith(operator, at)) {
        tokens.add(new Token(Kind.OPERATOR, operator));
        return at + operator.length();
      }
    }
    throw new TemplateException("the character '" + c + "' in a tag is not known");
  }

  private int string(int from, char quote, List<Token> tokens) {
    StringBuilder text = new StringBuilder();
    int at = from + 1;
    while (at < source.length() && source.charAt(at) != quote) {
      char c = source.charAt(at++);
      if (c != '\\' || at == source.length()) {
        text.append(c);
        continue;
      }
      char escaped = source.charAt(at++);
      switch (escaped) {
        case 'n' -> text.append('\n');
        case 't' -> text.append('\t');
        case 'r' -> text.append('\r');
        case '\\', '\'', '"' -> text.append(escaped);
        case 'u' -> {
          text.append((char) Integer.parseInt(source.substring(at, at + 4), 16));
          at += 4;
        }
        default -> throw new TemplateException("the escape \\" + escaped + " is not known");
      }
    }
    tokens.add(new Token(Kind.STRING, text.toString()));
    return at + 1;
  }
}
