/**
 * Labels of a request: classifiers over its text, lazily run, each value with its provenance. Knows
 * no policy, no worker and no Envoy. Start at {@code RequestLabels}.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.label;
