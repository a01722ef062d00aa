/**
 * What workers say of themselves on {@code /metrics}: a scanner of the Prometheus text format, the
 * names that each engine uses, and the loop that asks. A metric that is missing is unknown, never
 * zero. Knows no request and no decision.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.scrape;
