/**
 * The six resource kinds of {@code inference.warmpath.dev/v1alpha1} as records: the only definition
 * of the YAML that users write.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.crds.v1alpha1;
