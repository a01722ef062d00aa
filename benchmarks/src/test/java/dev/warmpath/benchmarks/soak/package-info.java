/** Tests. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.benchmarks.soak;
