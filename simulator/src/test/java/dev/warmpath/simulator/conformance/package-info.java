/** Runs the list of wire checks on captured bytes and on the simulator. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.simulator.conformance;
