/**
 * The model of an inference engine: frontend, scheduler, step times, block pool. Pure and
 * deterministic: it is told the time, starts no thread, reads no clock and knows nothing of HTTP,
 * so the same code runs behind a socket and inside a replay of hours of traffic.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.simulator.engine;
