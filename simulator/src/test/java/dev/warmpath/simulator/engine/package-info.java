/** Tests of the engine model, on a virtual clock. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.simulator.engine;
