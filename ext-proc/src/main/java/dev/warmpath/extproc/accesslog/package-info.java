/**
 * Envoy's gRPC access log: one entry for each request that ended, turned into the last events of
 * its {@code InFlightRequest}. Authoritative for how a request ended.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.accesslog;
