/** The control plane's own HTTP pages: health, metrics, and where each resource stands. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.xds.admin;
