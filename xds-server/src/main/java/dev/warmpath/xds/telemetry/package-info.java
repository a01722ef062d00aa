/** Names and meaning of the control plane's metrics; the only place where they are written. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.xds.telemetry;
