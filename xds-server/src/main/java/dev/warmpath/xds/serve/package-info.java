/**
 * The two gRPC streams of a gateway: delta ADS for Envoy and the routing configuration for the
 * processor. Streams translate between the wire and the control thread; who may have what is {@code
 * rollout}'s to say.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.xds.serve;
