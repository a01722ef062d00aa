/** {@code warmpath bench control-plane}: how many resources it takes, and how fast one changes. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.benchmarks.control;
