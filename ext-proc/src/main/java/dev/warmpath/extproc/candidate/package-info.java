/**
 * What can be chosen: the compiled configuration (backends, pools, providers, workers) and what
 * workers report of themselves. Knows the configuration contract; knows no request, no prediction,
 * no Envoy.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.candidate;
