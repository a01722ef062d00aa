/** Tests of the resource kinds and of the CRDs that are generated from them. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.crds.v1alpha1;
