/**
 * The gateway's own account of load: one lease per dispatched request, released exactly once. Knows
 * no prediction and no configuration; {@code predict} reads it.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.lease;
