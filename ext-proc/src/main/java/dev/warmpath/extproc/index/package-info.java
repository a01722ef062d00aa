/**
 * Which prompt blocks each worker probably still holds. Knows block hashes and worker ordinals
 * only; knows no request, no clock, no configuration.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.index;
