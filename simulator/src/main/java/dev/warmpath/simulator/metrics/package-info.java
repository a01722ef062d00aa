/**
 * The metrics page: the families, labels, buckets and text form of a vLLM 0.32, fed by what the
 * engine tells.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.simulator.metrics;
