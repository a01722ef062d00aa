@org.jspecify.annotations.NullMarked
package dev.warmpath.xds.status;
