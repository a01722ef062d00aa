package dev.warmpath.simulator.events;

/**
 * A flood of made-up events.
 *
 * @param batches how many batches
 * @param blocksPerBatch stored blocks in each
 * @param batchesPerSecond pace, 0 for as fast as possible
 * @param gapEvery every so many batches one is sent to the replay buffer only; 0 for never
 * @param duplicateEvery every so many batches one is sent twice; 0 for never
 * @param unknown mix in unknown fields and kinds of events
 * @param bothEncodings change between maps and arrays from batch to batch
 * @param seed makes the events
 */
public record StormPlan(
    int batches,
    int blocksPerBatch,
    int batchesPerSecond,
    int gapEvery,
    int duplicateEvery,
    boolean unknown,
    boolean bothEncodings,
    long seed) {}
