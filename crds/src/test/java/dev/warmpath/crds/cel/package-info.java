/** Tests of the CEL of policies. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.crds.cel;
