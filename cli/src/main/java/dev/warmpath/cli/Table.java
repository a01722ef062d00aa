package dev.warmpath.cli;

import java.util.ArrayList;
import java.util.List;

/** Columns of text; those of numbers to the right. */
final class Table {
  private final List<String[]> rows = new ArrayList<>();
  private final String[] header;

  /** A leading {@code >} in a heading aligns its column to the right. */
  Table(String... header) {
    this.header = header;
  }

  Table row(Object... cells) {
    String[] row = new String[header.length];
    for (int i = 0; i < header.length; i++) {
      row[i] = i < cells.length ? String.valueOf(cells[i]) : "";
    }
    rows.add(row);
    return this;
  }

  List<String> lines() {
    int[] widths = new int[header.length];
    for (int i = 0; i < header.length; i++) {
      widths[i] = title(i).length();
      for (String[] row : rows) {
        widths[i] = Math.max(widths[i], row[i].length());
      }
    }
    List<String> lines = new ArrayList<>();
    String[] titles = new String[header.length];
    for (int i = 0; i < header.length; i++) {
      titles[i] = title(i);
    }
    lines.add(line(titles, widths));
    for (String[] row : rows) {
      lines.add(line(row, widths));
    }
    return lines;
  }

  private String title(int column) {
    return header[column].startsWith(">") ? header[column].substring(1) : header[column];
  }

  private String line(String[] cells, int[] widths) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < cells.length; i++) {
      String padding = " ".repeat(widths[i] - cells[i].length());
      out.append(i == 0 ? "" : "  ");
      out.append(header[i].startsWith(">") ? padding + cells[i] : cells[i] + padding);
    }
    return out.toString().stripTrailing();
  }
}
