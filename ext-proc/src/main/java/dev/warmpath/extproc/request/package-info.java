/**
 * Reading a request: JSON spans, the canonical prompt, its fingerprint. Knows no policy, no worker,
 * no Envoy.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.request;
