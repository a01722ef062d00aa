package dev.warmpath.simulator.engine;

/**
 * What one engine step costs, in nanoseconds.
 *
 * <p>A step with prefill takes {@code max(decodeFloor, prefillPerToken * q) + attentionPerPair * (2
 * * ctx * q + q * q) + prefillOverhead + contextPerToken * ctx}; a step that only decodes takes
 * {@code decodeFloor + contextPerToken * sum(ctx)}. Decoders that ride along in a prefill step add
 * only the reading of their own context.
 *
 * @param decodeFloorNanos reading the weights once, the shortest possible step
 * @param prefillNanosPerToken linear work of one prompt token
 * @param attentionNanosPerPair quadratic work of one (query, key) pair
 * @param prefillOverheadNanos fixed extra of a step that has prefill work
 * @param contextNanosPerToken reading the keys and values of one token of context
 */
public record StepModel(
    double decodeFloorNanos,
    double prefillNanosPerToken,
    double attentionNanosPerPair,
    double prefillOverheadNanos,
    double contextNanosPerToken) {

  /**
   * Builds the model from the units people quote: milliseconds, bytes of cache per token, bytes per
   * second of memory.
   */
  public static StepModel of(
      double decodeFloorMillis,
      double prefillMillisPerToken,
      double attentionSecondsPerPair,
      double prefillOverheadMillis,
      double kvBytesPerToken,
      double memoryBytesPerSecond) {
    return new StepModel(
        decodeFloorMillis * 1e6,
        prefillMillisPerToken * 1e6,
        attentionSecondsPerPair * 1e9,
        prefillOverheadMillis * 1e6,
        kvBytesPerToken / memoryBytesPerSecond * 1e9);
  }

  /**
   * The part of a step that a prefill chunk of {@code tokens} after {@code context} tokens adds to
   * the quadratic term.
   */
  double attentionNanos(long context, long tokens) {
    return attentionNanosPerPair * (2.0 * context * tokens + (double) tokens * tokens);
  }

  /**
   * A step with prefill: {@code tokens} in all chunks together, {@code attentionNanos} summed over
   * the chunks, {@code context} summed over chunks and decoders.
   */
  double prefillStepNanos(long tokens, double attentionNanos, long context) {
    return Math.max(decodeFloorNanos, prefillNanosPerToken * tokens)
        + attentionNanos
        + prefillOverheadNanos
        + contextNanosPerToken * context;
  }

  /**
   * {@code steps} successive decode steps of {@code decoders} sequences whose contexts sum to
   * {@code context} at the first one; every sequence grows by one token a step.
   */
  double decodeStepsNanos(long steps, int decoders, long context) {
    return steps * (decodeFloorNanos + contextNanosPerToken * context)
        + contextNanosPerToken * decoders * (0.5 * steps * (steps - 1));
  }

  StepModel dividedBy(double factor) {
    return new StepModel(
        decodeFloorNanos / factor,
        prefillNanosPerToken / factor,
        attentionNanosPerPair / factor,
        prefillOverheadNanos / factor,
        contextNanosPerToken / factor);
  }
}
