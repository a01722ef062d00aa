package dev.warmpath.xds.rollout;

import dev.warmpath.crds.config.RoutingConfiguration;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one gateway's processor: connected or not, and which configurations it may be
 * routing by. Times are readings of one monotonic clock.
 */
final class ProcessorState {
  private final Duration absent;

  /** When the connection last changed; at first, when the gateway was first heard of. */
  private long sinceNanos;

  private boolean connected;
  private boolean routesByNothing;
  private @Nullable Sent acknowledged;
  private @Nullable Sent pending;
  private @Nullable String refusedVersion;
  private @Nullable String refusal;

  /** A configuration that was sent. */
  record Sent(String version, RoutingConfiguration routing, Names names, long sentNanos) {}

  ProcessorState(Duration absent, long nowNanos) {
    this.absent = absent;
    sinceNanos = nowNanos;
  }

  /** {@code versionInForce} is empty where it routes by nothing yet. */
  void connected(String versionInForce, long nowNanos) {
    connected = true;
    sinceNanos = nowNanos;
    refusedVersion = null;
    refusal = null;
    if (pending != null && pending.version.equals(versionInForce)) {
      acknowledged = pending;
    } else if (acknowledged != null && !acknowledged.version.equals(versionInForce)) {
      acknowledged = null;
    }
    // What was on its way when the stream broke either is in force, or never will be.
    pending = null;
    routesByNothing = versionInForce.isEmpty();
  }

  void disconnected(long nowNanos) {
    connected = false;
    sinceNanos = nowNanos;
  }

  void sent(Sent sent) {
    pending = sent;
  }

  /** The processor took that version. */
  void acknowledged(String version) {
    if (pending != null && pending.version.equals(version)) {
      acknowledged = pending;
      pending = null;
      routesByNothing = false;
      refusedVersion = null;
      refusal = null;
    }
  }

  void refused(String version, String reason) {
    refusedVersion = version;
    refusal = reason;
    if (pending != null && pending.version.equals(version)) {
      pending = null;
    }
  }

  /** Whatever it is sent can only be an improvement. */
  boolean routesByNothing() {
    return routesByNothing && pending == null;
  }

  boolean isConnected() {
    return connected;
  }

  @Nullable Sent acknowledged() {
    return acknowledged;
  }

  @Nullable Sent pending() {
    return pending;
  }

  @Nullable String refusal() {
    return refusal;
  }

  boolean hasRefused(String version) {
    return version.equals(refusedVersion);
  }

  /** The processor is gone, or hangs, for longer than anybody waits. */
  boolean isLost(long nowNanos) {
    boolean gone = !connected && nowNanos - sinceNanos >= absent.toNanos();
    boolean hangs =
        connected && pending != null && nowNanos - pending.sentNanos >= absent.toNanos();
    return gone || hangs;
  }

  /** It may route by a configuration that this control plane has never seen. */
  boolean mayNameAnything(long nowNanos) {
    return acknowledged == null
        && !routesByNothing
        && !isLost(nowNanos)
        && nowNanos - sinceNanos < absent.toNanos();
  }

  /** All that it may name by what it was sent. */
  Names names(long nowNanos) {
    if (isLost(nowNanos)) {
      return Names.NONE;
    }
    Names names = acknowledged == null ? Names.NONE : acknowledged.names;
    return pending == null ? names : names.and(pending.names);
  }

  /** When {@link #isLost} or {@link #mayNameAnything} changes by time alone. */
  long nextChangeNanos() {
    long base = connected && pending != null ? pending.sentNanos : sinceNanos;
    return base + absent.toNanos();
  }
}
