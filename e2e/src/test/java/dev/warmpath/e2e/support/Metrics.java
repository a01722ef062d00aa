package dev.warmpath.e2e.support;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.OptionalDouble;

/** Prometheus text of one scrape. */
public record Metrics(String text) {

  public static Metrics scrape(InetSocketAddress address) throws IOException {
    return new Metrics(WireClient.get(address, "/metrics").text());
  }

  /** The sum over all series of that name whose labels contain every given piece of text. */
  public OptionalDouble sum(String name, String... labels) {
    double sum = 0;
    boolean any = false;
    for (String line : text.lines().toList()) {
      if (!line.startsWith(name)) {
        continue;
      }
      char next = line.length() > name.length() ? line.charAt(name.length()) : ' ';
      if (next != '{' && next != ' ') {
        continue;
      }
      boolean matches = true;
      for (String label : labels) {
        matches &= line.contains(label);
      }
      if (matches) {
        sum += Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
        any = true;
      }
    }
    return any ? OptionalDouble.of(sum) : OptionalDouble.empty();
  }
}
