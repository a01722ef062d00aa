/**
 * The control plane. Reading order: {@code source} (where resources come from), {@code plan}
 * (resources to {@code model}, with a problem list), {@code translate} (model to Envoy's messages),
 * {@code rollout} (which gateway may have what, and in which order), {@code serve} (the two gRPC
 * streams).
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.xds;
