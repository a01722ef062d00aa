/**
 * Policies: which backends a request may go to, in which order, and what is to happen when there is
 * none. Pure: evaluates compiled immutable snapshots over facts that the caller hands in; knows no
 * Envoy, no prediction and no lease. Start at {@code PolicySnapshot.plan}.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.policy;
