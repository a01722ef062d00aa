package dev.warmpath.extproc.scrape;

import dev.warmpath.extproc.candidate.WorkerGauges;
import dev.warmpath.extproc.candidate.WorkerId;

/** Takes what scrapes bring. Thread-safe, quick. */
public interface GaugeSink {
  void scraped(WorkerId worker, WorkerGauges gauges);

  /** The page could not be had; the last gauges grow old. */
  void unreachable(WorkerId worker);

  /** Nobody listens at its address. Told for each try. */
  void refused(WorkerId worker);

  /** The process behind this worker is a new one: its cache is empty. */
  void restarted(WorkerId worker);
}
