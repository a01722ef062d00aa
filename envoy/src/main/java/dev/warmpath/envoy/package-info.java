/**
 * Envoy as a part of Warmpath: its bootstrap (resources {@code bootstrap.yaml} and {@code
 * usage.lua}), rendering, validation, finding the executable, and running it as a child process.
 * Knows nothing of resources, routing or prompts. Start at {@link
 * dev.warmpath.envoy.BootstrapRenderer}.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.envoy;
