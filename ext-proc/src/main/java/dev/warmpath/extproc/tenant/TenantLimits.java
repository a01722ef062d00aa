package dev.warmpath.extproc.tenant;

import dev.warmpath.crds.v1alpha1.TenantSpec;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What each tenant uses of its requests and tokens a minute, and how many of its requests run, in
 * this processor alone. Rates are token buckets that hold one minute's worth: a request needs one
 * whole request and any token left. Its prompt is charged at once and its answer at its end, so a
 * long answer is paid for by those that come after it. Thread-safe.
 */
public final class TenantLimits {
  private static final double NANOS_PER_MINUTE = TimeUnit.MINUTES.toNanos(1);
  private static final int MAX_RETRY_AFTER_SECONDS = 60;

  private final LongSupplier nanoClock;
  private final Map<String, Use> tenants = new HashMap<>();
  private final Map<String, Use> running = new HashMap<>();

  /**
   * @param nanoClock intervals only; any origin
   */
  public TenantLimits(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /**
   * A limit that is reached.
   *
   * @param what for the client
   * @param retryAfterSeconds when to come again
   */
  public record Reached(String what, int retryAfterSeconds) {}

  /** Counts a request in, or says which limit forbids it; then nothing is counted. */
  public synchronized @Nullable Reached admit(String decisionId, Tenant tenant, long promptTokens) {
    TenantSpec.Limits limits = tenant.limits();
    Long requests = limits.requestsPerMinute();
    Long tokens = limits.tokensPerMinute();
    Integer concurrent = limits.concurrentRequests();
    if (requests == null && tokens == null && concurrent == null) {
      return null;
    }
    long now = nanoClock.getAsLong();
    Use use = tenants.computeIfAbsent(tenant.toString(), name -> new Use());
    if (concurrent != null && use.running >= concurrent) {
      return new Reached("runs its " + concurrent + " requests at one time", 1);
    }
    if (requests != null && use.requests.refilled(requests, now) < 1) {
      return new Reached(
          "has used its " + requests + " requests a minute", use.requests.waitFor(1, requests));
    }
    if (tokens != null && use.tokens.refilled(tokens, now) <= 0) {
      return new Reached(
          "has used its " + tokens + " tokens a minute", use.tokens.waitFor(0, tokens));
    }
    use.requests.level -= 1;
    use.tokens.level -= promptTokens;
    use.running++;
    running.put(decisionId, use);
    return null;
  }

  /** The request is over, or was refused after all; a second time changes nothing. */
  public synchronized void ended(String decisionId, long generatedTokens) {
    Use use = running.remove(decisionId);
    if (use != null) {
      use.running--;
      use.tokens.level -= generatedTokens;
    }
  }

  private static final class Use {
    private final Bucket requests = new Bucket();
    private final Bucket tokens = new Bucket();
    private int running;
  }

  /** Starts full. */
  private static final class Bucket {
    private double level = Double.POSITIVE_INFINITY;
    private long atNanos;

    private double refilled(double perMinute, long now) {
      level = Math.min(perMinute, level + perMinute * ((now - atNanos) / NANOS_PER_MINUTE));
      atNanos = now;
      return level;
    }

    private int waitFor(double wanted, double perMinute) {
      double seconds = (wanted - level) / perMinute * 60;
      return Math.clamp((int) Math.floor(seconds) + 1, 1, MAX_RETRY_AFTER_SECONDS);
    }
  }
}
