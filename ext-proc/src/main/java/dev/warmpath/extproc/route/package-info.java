/** The path of a request, step by step. Read {@code RoutingPipeline} first. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.route;
