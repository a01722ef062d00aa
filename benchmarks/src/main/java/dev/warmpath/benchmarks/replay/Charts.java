package dev.warmpath.benchmarks.replay;

import java.util.ArrayList;
import java.util.Formatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Two SVG charts: the distribution of times to first token per algorithm, and goodput by
 * concurrency.
 */
final class Charts {
  private static final int WIDTH = 860;
  private static final int HEIGHT = 460;
  private static final int LEFT = 70;
  private static final int RIGHT = 190;
  private static final int TOP = 40;
  private static final int BOTTOM = 50;

  /** Colour-blind safe (Okabe and Ito). */
  private static final String[] COLOURS = {
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999",
    "#8c564b", "#7f7fff"
  };

  private Charts() {}

  private record Point(double x, double y) {}

  /** Share of requests whose first token came within x seconds; x is logarithmic. */
  static String distribution(String title, List<Result> results) {
    Map<String, List<Point>> lines = new LinkedHashMap<>();
    for (Result result : results) {
      double[] ttft = result.ttftSeconds();
      List<Point> points = lines.computeIfAbsent(result.algorithm(), name -> new ArrayList<>());
      if (!points.isEmpty()) {
        continue; // The first seed stands for the others.
      }
      int step = Math.max(1, ttft.length / 400);
      for (int i = 0; i < ttft.length; i += step) {
        points.add(new Point(ttft[i], 100.0 * (i + 1) / result.requests()));
      }
      if (ttft.length > 0) {
        points.add(new Point(ttft[ttft.length - 1], 100.0 * ttft.length / result.requests()));
      }
    }
    return chart(title, "time to first token, s (log)", "requests, %", lines, true, 100);
  }

  static String goodput(String title, List<Result> results) {
    Map<String, List<Point>> lines = new LinkedHashMap<>();
    double most = 1;
    for (Result result : results) {
      lines
          .computeIfAbsent(result.algorithm(), name -> new ArrayList<>())
          .add(new Point(result.concurrency(), result.goodputPerMin()));
      most = Math.max(most, result.goodputPerMin());
    }
    return chart(
        title,
        "requests in flight",
        "requests a minute within the objective",
        lines,
        false,
        most * 1.05);
  }

  private static String chart(
      String title,
      String xName,
      String yName,
      Map<String, List<Point>> lines,
      boolean logX,
      double yMax) {
    double low = Double.MAX_VALUE;
    double high = 0;
    for (List<Point> points : lines.values()) {
      for (Point point : points) {
        low = Math.min(low, point.x());
        high = Math.max(high, point.x());
      }
    }
    if (high <= low) {
      high = low + 1;
    }
    Axis x =
        new Axis(logX ? Math.log10(Math.max(1e-3, low)) : 0, logX ? Math.log10(high) : high, logX);
    StringBuilder text = new StringBuilder(16_384);
    Formatter svg = new Formatter(text, Locale.ROOT);
    svg.format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">%n"
            + "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n"
            + "<text x=\"%d\" y=\"22\" font-size=\"15\" font-weight=\"bold\">%s</text>%n",
        WIDTH, HEIGHT, LEFT, escape(title));
    for (double tick : x.ticks()) {
      svg.format(
          "<line x1=\"%1$.1f\" y1=\"%2$d\" x2=\"%1$.1f\" y2=\"%3$d\" stroke=\"#ddd\"/>"
              + "<text x=\"%1$.1f\" y=\"%4$d\" text-anchor=\"middle\">%5$s</text>%n",
          x.at(tick), TOP, HEIGHT - BOTTOM, HEIGHT - BOTTOM + 16, number(tick));
    }
    for (int i = 0; i <= 5; i++) {
      double value = yMax * i / 5;
      svg.format(
          "<line x1=\"%d\" y1=\"%2$.1f\" x2=\"%3$d\" y2=\"%2$.1f\" stroke=\"#ddd\"/>"
              + "<text x=\"%4$d\" y=\"%5$.1f\" text-anchor=\"end\">%6$s</text>%n",
          LEFT, y(value, yMax), WIDTH - RIGHT, LEFT - 6, y(value, yMax) + 4, number(value));
    }
    svg.format(
        "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>%n"
            + "<text transform=\"translate(16,%d) rotate(-90)\" text-anchor=\"middle\">%s</text>%n",
        (LEFT + WIDTH - RIGHT) / 2,
        HEIGHT - 10,
        escape(xName),
        (TOP + HEIGHT - BOTTOM) / 2,
        escape(yName));
    int line = 0;
    for (Map.Entry<String, List<Point>> entry : lines.entrySet()) {
      String colour = COLOURS[line % COLOURS.length];
      StringBuilder path = new StringBuilder();
      Formatter move = new Formatter(path, Locale.ROOT);
      for (Point point : entry.getValue()) {
        move.format("%s%.1f %.1f", path.isEmpty() ? "M" : "L", x.at(point.x()), y(point.y(), yMax));
      }
      boolean ours = entry.getKey().equals("predicted-ttft");
      svg.format(
          "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"/>%n"
              + "<rect x=\"%d\" y=\"%d\" width=\"14\" height=\"4\" fill=\"%2$s\"/>"
              + "<text x=\"%6$d\" y=\"%7$d\"%8$s>%9$s</text>%n",
          path,
          colour,
          ours ? "3" : "1.6",
          WIDTH - RIGHT + 12,
          TOP + 10 + 18 * line,
          WIDTH - RIGHT + 32,
          TOP + 16 + 18 * line,
          ours ? " font-weight=\"bold\"" : "",
          escape(entry.getKey()));
      line++;
    }
    return text.append("</svg>\n").toString();
  }

  private record Axis(double low, double high, boolean log) {
    double at(double value) {
      double v = log ? Math.log10(Math.max(1e-3, value)) : value;
      return LEFT + (v - low) / (high - low) * (WIDTH - RIGHT - LEFT);
    }

    List<Double> ticks() {
      List<Double> ticks = new ArrayList<>();
      if (log) {
        for (int decade = (int) Math.floor(low); decade <= Math.ceil(high); decade++) {
          for (int mantissa : new int[] {1, 2, 5}) {
            double value = mantissa * Math.pow(10, decade);
            if (Math.log10(value) >= low - 1e-9 && Math.log10(value) <= high + 1e-9) {
              ticks.add(value);
            }
          }
        }
      } else {
        for (int i = 0; i <= 8; i++) {
          ticks.add(high * i / 8);
        }
      }
      return ticks;
    }
  }

  private static double y(double value, double yMax) {
    return HEIGHT - BOTTOM - Math.min(1, value / yMax) * (HEIGHT - BOTTOM - TOP);
  }

  private static String number(double value) {
    return value >= 100 || value == Math.rint(value)
        ? String.format(Locale.ROOT, "%.0f", value)
        : String.format(Locale.ROOT, "%.3g", value).replaceAll("0+$", "").replaceAll("\\.$", "");
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;");
  }
}
