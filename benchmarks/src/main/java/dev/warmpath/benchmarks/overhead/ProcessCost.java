package dev.warmpath.benchmarks.overhead;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Processor time and memory of a running process. */
record ProcessCost(long pid) {

  /** User and system time so far, in milliseconds; resolution 10 ms. */
  double cpuMillis() {
    return ProcessHandle.of(pid)
        .flatMap(process -> process.info().totalCpuDuration())
        .map(Duration::toNanos)
        .map(nanos -> nanos / 1e6)
        .orElseThrow(() -> new IllegalStateException("process " + pid + " has ended"));
  }

  /** Resident memory in MiB; NaN where the system does not say. */
  double residentMebibytes() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/status"))) {
        if (line.startsWith("VmRSS:")) {
          return Long.parseLong(line.replaceAll("[^0-9]", "")) / 1024.0;
        }
      }
    } catch (IOException e) {
      return Double.NaN;
    }
    return Double.NaN;
  }
}
