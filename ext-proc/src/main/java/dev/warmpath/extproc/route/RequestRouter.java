package dev.warmpath.extproc.route;

import dev.warmpath.extproc.inflight.InFlightRequest;
import org.jspecify.annotations.Nullable;

/** Decides requests. Thread-safe; called on the decision threads; never blocks on I/O. */
public interface RequestRouter {

  /** The head with the operator's route that it came by, where there is one. */
  default RequestHead arrived(RequestHead head) {
    return head;
  }

  /**
   * Decides from the headers alone where that is possible (unknown path, wrong method, no valid
   * key, a body that is no plain JSON, model list).
   *
   * @return null where the body is needed
   */
  @Nullable Decision routeHead(RequestHead head);

  /**
   * Decides a request whose body is complete. The array is kept only where the decision is
   * deferred, until it completes; it must not change.
   */
  Decision route(RequestHead head, byte[] body);

  /**
   * Told of a request that ends without a decision of this router: what holds the body refused it,
   * or the client left before it was complete.
   *
   * @param error what the client was told; null where it has left
   */
  default void undecided(RequestHead head, @Nullable ApiError error) {}

  /**
   * The request in flight with that id, or null once it has ended and its record is the only trace.
   */
  @Nullable InFlightRequest inFlight(String decisionId);
}
