/** A decided request until its end: the one owner of its lease. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.inflight;
