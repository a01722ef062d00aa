package dev.warmpath.extproc.route;

import org.jspecify.annotations.Nullable;

/**
 * Where one attempt goes.
 *
 * @param slot the worker of the target's pool; null for a provider
 */
record Route(Target target, @Nullable WorkerSlot slot) {}
