/**
 * What the tests drive the product with: processes, raw HTTP, scripted workers, streams under load,
 * configuration folders. Knows the product only from outside: command line, wire, files.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.e2e.support;
