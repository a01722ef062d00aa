/** Root of module {@code envoy}. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.envoy;
