/** Root of module {@code simulator}. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.simulator;
