/**
 * Seconds to first token, per worker and request, and the learning behind it. Reads the load
 * account of {@code lease}; knows no policy and no Envoy. Start with {@code WorkerModel}.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.predict;
