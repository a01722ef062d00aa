/**
 * Cache events over ZeroMQ, in the frames and encodings of a vLLM: a live stream that may lose
 * messages and a replay socket that fills gaps. Knows the block pool's listener, nothing of HTTP.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.simulator.events;
