/** Tests of the running control plane. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.xds;
