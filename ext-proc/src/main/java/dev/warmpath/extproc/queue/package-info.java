/**
 * Requests that wait because nothing may take them now: bounded, fair between tenants, first in
 * first out inside one. Knows no policy, no worker and no Envoy; what a release means is the
 * caller's. Start at {@code WaitingRoom}.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.queue;
