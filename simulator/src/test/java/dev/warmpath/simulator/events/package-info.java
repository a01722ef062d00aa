/** Cache events, compared with captured frames. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.simulator.events;
