/** Real parts and speaking fakes for the tests: Envoy itself, upstreams that record, processors. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.xds.support;
