/**
 * Runs synthetic requests through the real path before the first real one, so that no client waits
 * for class loading and compilation. Touches nothing that real requests use.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.warmup;
