package dev.warmpath.extproc.queue;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Waiting requests that wait for the same thing. Higher priority classes go first; inside a class,
 * tenants take turns by deficit round robin on tokens; inside a tenant, first in first out.
 *
 * <p>Deficit round robin (Shreedhar and Varghese, 1995): each turn adds a quantum to a tenant's
 * credit, and it may go while its first request costs no more than its credit. Over any time in
 * which two tenants wait, the tokens that they get differ by at most one quantum plus one request.
 *
 * <p>Guarded by its {@link WaitingRoom}.
 */
final class Lane {
  /** Tokens of one turn: about one long prompt, so that most tenants move in each round. */
  static final long QUANTUM_TOKENS = 4096;

  private final TreeMap<Integer, PriorityClass> classes = new TreeMap<>(Comparator.reverseOrder());
  private long tokens;
  private int size;

  private static final class PriorityClass {
    /** In the order of turns: the first tenant's turn it is. */
    final LinkedHashMap<String, Line> lines = new LinkedHashMap<>();
  }

  private static final class Line {
    final ArrayDeque<Ticket> waiting = new ArrayDeque<>();
    long credit = QUANTUM_TOKENS;
  }

  void add(Ticket ticket) {
    classes
        .computeIfAbsent(ticket.priority(), any -> new PriorityClass())
        .lines
        .computeIfAbsent(ticket.tenant(), any -> new Line())
        .waiting
        .add(ticket);
    tokens += ticket.tokens();
    size++;
  }

  /** Whose turn it is; null if nobody waits. Turns pass until somebody has the credit. */
  @Nullable Ticket head() {
    if (classes.isEmpty()) {
      return null;
    }
    PriorityClass first = classes.firstEntry().getValue();
    while (true) {
      Map.Entry<String, Line> turn = first.lines.firstEntry();
      Ticket ticket = turn.getValue().waiting.element();
      if (ticket.tokens() <= turn.getValue().credit || first.lines.size() == 1) {
        return ticket;
      }
      // Its turn is over; it comes again with more credit.
      String tenant = turn.getKey();
      Line line = turn.getValue();
      line.credit += QUANTUM_TOKENS;
      first.lines.remove(tenant);
      first.lines.put(tenant, line);
    }
  }

  /**
   * Takes a ticket out.
   *
   * @param served it was released, so its tenant pays for it
   */
  boolean remove(Ticket ticket, boolean served) {
    PriorityClass of = classes.get(ticket.priority());
    Line line = of == null ? null : of.lines.get(ticket.tenant());
    if (of == null || line == null || !line.waiting.remove(ticket)) {
      return false;
    }
    tokens -= ticket.tokens();
    size--;
    if (served) {
      line.credit = Math.max(0, line.credit - ticket.tokens());
    }
    if (line.waiting.isEmpty()) {
      // Credit is for those who wait: nobody saves it up.
      of.lines.remove(ticket.tenant());
      if (of.lines.isEmpty()) {
        classes.remove(ticket.priority());
      }
    }
    return true;
  }

  /** Tokens of this priority and above, which go before a newcomer or share with it. */
  long tokensAhead(int priority) {
    long ahead = 0;
    for (PriorityClass above : classes.headMap(priority, true).values()) {
      for (Line line : above.lines.values()) {
        for (Ticket ticket : line.waiting) {
          ahead += ticket.tokens();
        }
      }
    }
    return ahead;
  }

  boolean isEmpty() {
    return size == 0;
  }

  int size() {
    return size;
  }

  long tokens() {
    return tokens;
  }

  Iterable<Ticket> all() {
    java.util.ArrayList<Ticket> all = new java.util.ArrayList<>(size);
    classes.values().forEach(c -> c.lines.values().forEach(line -> all.addAll(line.waiting)));
    return all;
  }
}
