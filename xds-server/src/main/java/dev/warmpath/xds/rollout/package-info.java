/**
 * Make before break: which gateway may have what, and when. A cluster or endpoint is in Envoy
 * before the processor of that gateway is told to name it, and the processor has stopped naming it
 * before Envoy loses it. Pure state machines with the time as an argument; {@code serve} feeds and
 * asks them.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.xds.rollout;
