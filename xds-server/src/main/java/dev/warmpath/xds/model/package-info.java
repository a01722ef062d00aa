/**
 * What a gateway is to have, as plain values: clusters, endpoints and secrets, each with the
 * resource that it comes from. Knows neither YAML nor Envoy's messages. {@code plan} makes it,
 * {@code translate} reads it.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.xds.model;
