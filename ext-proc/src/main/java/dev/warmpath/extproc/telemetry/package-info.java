/** Names and meters of everything that {@code /metrics} shows. Knows no request content. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.telemetry;
