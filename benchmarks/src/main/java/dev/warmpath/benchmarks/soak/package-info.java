/** Long runs of one structure that show whether it keeps its bounds. Knows nothing of requests. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.benchmarks.soak;
