/**
 * The validating webhook: an object is judged before the API server stores it, by the rules that
 * judge it afterwards. Knows AdmissionReview and HTTPS; what is right is {@code crds.resource}'s to
 * say.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.xds.admission;
