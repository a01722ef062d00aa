/** Tests of the replay. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.benchmarks.replay;
