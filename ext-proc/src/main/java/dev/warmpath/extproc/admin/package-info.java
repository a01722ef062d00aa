/**
 * HTTP for people, probes and Prometheus on a local port. Renders what others hold; decides
 * nothing. No answer holds prompt text or a key.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.admin;
