/**
 * From predictions to one worker and its alternatives. Pure functions of what they are given; the
 * caller holds the lock that makes pick and reserve one step.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.pick;
