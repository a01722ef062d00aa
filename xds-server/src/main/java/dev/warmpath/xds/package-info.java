/** Root of module {@code xds-server}. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.xds;
