/**
 * Seconds to first token, per worker and request, and the learning behind it. Reads the load
 * account of {@code lease}; knows no policy and no Envoy.
 *
 * <p>Start with {@code WorkerModel}: it sums the terms, and names the class of each. What is learnt
 * of one worker, of its kind ({@code KindModel}) and of a model ({@code ArrivalRate}, {@code
 * ReuseModel}, {@code TokenRatio}) lives apart.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.predict;
