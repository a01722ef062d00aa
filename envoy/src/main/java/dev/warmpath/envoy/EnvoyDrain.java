package dev.warmpath.envoy;

import java.io.IOException;
import java.time.Duration;

/**
 * Takes a running Envoy out of service so that no request is lost: its health route answers 503 and
 * its responses end their connections; after a while its listeners close; then requests in flight
 * may end. Envoy itself runs on. Blocks; one drain at a time.
 */
public final class EnvoyDrain {
  private static final Duration POLL = Duration.ofMillis(50);

  /**
   * A client may send on a connection that it holds open, so one moment without a request is not
   * the end.
   */
  private static final Duration QUIET = Duration.ofSeconds(1);

  private static final String ACTIVE_REQUESTS = "http.warmpath.downstream_rq_active";
  private static final String ACTIVE_CONNECTIONS = "http.warmpath.downstream_cx_active";

  private final EnvoyAdmin admin;

  public EnvoyDrain(EnvoyAdmin admin) {
    this.admin = admin;
  }

  /**
   * Drains.
   *
   * @param settle how long new connections are still accepted: until every load balancer has heard
   *     that this gateway is going
   * @param limit how long requests in flight may take after that
   * @return requests still in flight when the limit was reached; 0 after a complete drain
   * @throws IOException where the admin interface cannot be reached
   */
  public long run(Duration settle, Duration limit) throws IOException, InterruptedException {
    admin.post("/healthcheck/fail");
    Thread.sleep(settle);
    admin.post("/drain_listeners");
    long begin = System.nanoTime();
    long quietSince = begin;
    while (true) {
      long active = admin.stat(ACTIVE_REQUESTS);
      long now = System.nanoTime();
      if (active > 0) {
        quietSince = now;
      } else if (now - quietSince >= QUIET.toNanos() || admin.stat(ACTIVE_CONNECTIONS) == 0) {
        return 0;
      }
      if (now - begin >= limit.toNanos()) {
        return active;
      }
      Thread.sleep(POLL);
    }
  }
}
