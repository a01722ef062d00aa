/** What following the cache events of a worker costs. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.benchmarks.events;
