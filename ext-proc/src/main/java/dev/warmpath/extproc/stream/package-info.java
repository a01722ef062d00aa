/**
 * What may be sent when: one object per ext_proc stream, each a small state machine. {@code
 * ExtProcService} opens them; {@code DecideExchange} answers a request, {@code WatchExchange} sees
 * the first bytes of its response. Decides nothing itself: {@code route} does; {@code wire} knows
 * how messages look.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.stream;
