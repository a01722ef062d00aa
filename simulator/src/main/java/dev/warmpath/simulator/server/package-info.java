/**
 * The HTTP server in front of the engine. Everything of one simulator runs on one event loop
 * thread: connections, engine, metrics, faults; no class here is thread-safe or needs to be. In the
 * order in which a request meets them: {@link dev.warmpath.simulator.server.HttpConnection}, {@link
 * dev.warmpath.simulator.server.Routes}, {@link dev.warmpath.simulator.server.GenerationHandler},
 * {@link dev.warmpath.simulator.server.EngineDriver}.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.simulator.server;
