package dev.warmpath.benchmarks.replay;

/**
 * One request of a workload.
 *
 * @param id unique within a run, counts up from 0 in order of creation
 * @param session conversation that it belongs to; equal for all turns of one
 * @param turn 0 for the first turn of its session
 * @param answerId segment identity of the answer, so that a following turn can repeat it
 */
public record ReplayRequest(
    long id, long session, int turn, Prompt prompt, int outputTokens, long answerId) {}
