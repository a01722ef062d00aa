/**
 * Pure translation between Envoy's ext_proc messages and the types of {@code route}. With {@code
 * stream} and {@code accesslog} the only place that knows Envoy's protobuf types. Knows no stream,
 * no thread, no policy.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.wire;
