/** Tests of the routing path. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.route;
