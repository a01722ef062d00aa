/** Root of module {@code benchmarks}. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.benchmarks;
