/**
 * Where each resource stands, in words: conditions made of the plan's problems and of what the
 * gateways acknowledged. Pure; whoever shows it (admin page, Kubernetes status) decides how.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.xds.status;
