/**
 * The gateway's own cost: one load, sent in turn to an instant upstream, to a plain Envoy in front
 * of it and to the whole product. Start at {@link
 * dev.warmpath.benchmarks.overhead.OverheadBenchmark}.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.benchmarks.overhead;
