/**
 * Trying policies out without a gateway: what one request would meet, and which recorded requests
 * another configuration would send elsewhere. For command lines and for users' own tests. Start at
 * {@code PolicyReview}.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.policy.review;
