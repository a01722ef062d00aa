/**
 * Who calls: keys, token claims and mesh identities to tenants, and the models that each may see.
 * Knows no policy, no worker and no Envoy. Start at {@code TenantDirectory}.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.tenant;
