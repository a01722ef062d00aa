/**
 * Resources as values: what one YAML document became, where it stood, and what is wrong with it.
 *
 * <p>Owns reading (YAML text or a Kubernetes object to records, strictly, with a place and a reason
 * for every fault) and cross-resource validation. The records of {@code v1alpha1} and their
 * annotations are the only schema; nothing here repeats a field name of theirs. Must not know where
 * text comes from (folder, API server) nor what is done with resources. Start at {@link
 * dev.warmpath.crds.resource.ResourceParser}, then {@link
 * dev.warmpath.crds.resource.ResourceValidator}.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.crds.resource;
