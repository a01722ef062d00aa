/**
 * What makes a server look like a vLLM on the wire, as one list of checks. The list holds for
 * captured bytes of a real server, for the simulator, and can be run against any server by its URL.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.simulator.conformance;
