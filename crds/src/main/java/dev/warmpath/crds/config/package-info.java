/**
 * The contract between the planes: what the control plane tells the external processor, and the
 * names both use.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.crds.config;
