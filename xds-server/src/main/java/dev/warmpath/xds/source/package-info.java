/**
 * Where resources come from. A source emits whole, immutable snapshots, each with the problems that
 * it met on the way; it knows nothing of Envoy, of gateways or of what a valid combination of
 * resources is. Go on with {@code plan}.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.xds.source;
