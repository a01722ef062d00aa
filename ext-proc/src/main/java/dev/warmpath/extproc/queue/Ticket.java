package dev.warmpath.extproc.queue;

/**
 * One waiting request.
 *
 * @param lane what it waits for; those with the same one are released in order
 * @param tenant between whom turns are taken
 * @param priority higher goes first; below zero is batch
 * @param tokens what a turn costs, at least 1
 * @param bytes held in memory while it waits
 * @param deadlineNanos on the room's clock
 */
public record Ticket(
    String lane,
    String tenant,
    int priority,
    long tokens,
    long bytes,
    long deadlineNanos,
    Attempt attempt) {

  /** What the owner of a ticket does. Called by one thread at a time, never under a lock. */
  public interface Attempt {
    /** Decides again; true if the request need not wait any more, whatever became of it. */
    boolean decide();

    /** The longest wait is over; called at most once, instead of a successful decision. */
    void expired();
  }

  public Ticket {
    if (tokens < 1) {
      throw new IllegalArgumentException("tokens " + tokens + " < 1");
    }
  }

  /** Two requests are never the same, even with equal fields. */
  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }
}
