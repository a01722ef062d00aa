/**
 * The path of a request, step by step. Read {@code RoutingPipeline} first; it asks {@code
 * PoolRouter} for a place, which {@code Placer} finds among the workers of {@code WorkerRegistry}.
 * {@code RoutingState} is what they share, and the one lock that guards it.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.route;
