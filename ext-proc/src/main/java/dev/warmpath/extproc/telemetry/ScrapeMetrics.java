package dev.warmpath.extproc.telemetry;

/** What the scraper reports. Thread-safe. */
public interface ScrapeMetrics {

  /** One page was asked for. */
  void scraped(boolean read, long elapsedNanos);

  /** A worker turned out to be a new process. */
  void restarted();
}
