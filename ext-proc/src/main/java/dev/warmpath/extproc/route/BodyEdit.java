package dev.warmpath.extproc.route;

/**
 * Replaces bytes {@code [start, end)} of the request body; {@code start == end} inserts. A
 * decision's edits are sorted and do not overlap, so that every byte that isn't edited keeps its
 * place in the order.
 */
@SuppressWarnings("ArrayRecordComponent") // a span of wire bytes; never compared or hashed
public record BodyEdit(int start, int end, byte[] replacement) {}
