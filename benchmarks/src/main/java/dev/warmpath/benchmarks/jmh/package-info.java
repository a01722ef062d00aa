/**
 * Microbenchmarks of what every request pays for. A number counts only from a quiet machine; run
 * with {@code org.openjdk.jmh.Main} on the module's class path.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.benchmarks.jmh;
