/**
 * The CEL of policies: which variables exist where, what an expression may cost, and how it is
 * evaluated.
 *
 * <p>The control plane compiles here to accept a policy, the processor compiles here to run it, so
 * both agree. Must not know policies, labels or metrics themselves. Start at {@link
 * dev.warmpath.crds.cel.CelEnvironments}.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.crds.cel;
