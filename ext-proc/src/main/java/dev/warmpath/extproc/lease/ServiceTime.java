package dev.warmpath.extproc.lease;

/**
 * How long a worker needed for one prompt, as its first token and the one before show it.
 *
 * @param seconds from when it was this prompt's turn to its first token
 * @param idle it was its turn at once, so the engine's front end is part of the time
 * @param decoding requests that were producing tokens meanwhile
 * @param clean whether the turn's start is known: its predecessor's first token was seen
 */
public record ServiceTime(double seconds, boolean idle, int decoding, boolean clean) {}
