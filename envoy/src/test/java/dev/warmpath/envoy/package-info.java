/**
 * Tests with the real Envoy; the processor, control plane and upstream beside it are small fakes
 * that speak the protocols.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.envoy;
