/**
 * The wire shapes of the served API: reading requests, writing answers, events and errors byte for
 * byte as a vLLM 0.32 does. Knows tokens and text, neither sockets nor the engine.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.simulator.api;
