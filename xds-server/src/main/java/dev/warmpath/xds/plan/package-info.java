/**
 * Resources to what is to be done with them: which version of each resource is in force, what the
 * gateways are to have, and what is wrong, each problem with its resource. {@link
 * dev.warmpath.xds.plan.Compiler} is a pure function; {@link dev.warmpath.xds.plan.Planner} adds
 * the memory of what was good before.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.xds.plan;
