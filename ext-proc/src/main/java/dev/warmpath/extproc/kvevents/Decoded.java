package dev.warmpath.extproc.kvevents;

import dev.warmpath.extproc.kvcache.CacheChange;
import java.util.List;

/**
 * One batch of events.
 *
 * @param unixSeconds on the worker's clock
 */
record Decoded(double unixSeconds, List<CacheChange> changes) {}
