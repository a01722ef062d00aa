/**
 * Routing quality in virtual time: the gateway's own routing code against the simulator's engine
 * model, with arrivals, engines and learning on one virtual clock. Start at {@link
 * dev.warmpath.benchmarks.replay.Replay}. Nothing here may be known to the gateway.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.benchmarks.replay;
