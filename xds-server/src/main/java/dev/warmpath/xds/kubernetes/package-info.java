/**
 * Custom resources, Pods, EndpointSlices and Secrets of an API server as a {@code source}. The only
 * package that knows Kubernetes' client; informers keep its stores, and a snapshot is built from
 * the stores, so that a lost watch costs a re-list and nothing else.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.xds.kubernetes;
