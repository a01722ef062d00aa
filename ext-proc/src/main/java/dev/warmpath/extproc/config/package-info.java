/**
 * The processor's end of the routing configuration: receives snapshots, keeps the last good one on
 * disk, hands them on. Knows the stream and the file; what a configuration means is the receiver's
 * business.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.config;
