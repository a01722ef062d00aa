package dev.warmpath.xds.rollout;

import java.time.Duration;

/**
 * How long one side of a gateway waits for the other.
 *
 * @param envoyAbsent with no Envoy of the gateway connected for so long, a processor that routes
 *     already gets the whole configuration: either there is no such Envoy, or it has to start and
 *     will be sent everything. A processor that routes by nothing yet gets it at once
 * @param envoyAck a cluster or endpoint that Envoy has not acknowledged within this time is left
 *     out of the processor's configuration, which then no longer waits for it
 * @param processorAbsent a processor that is gone, or does not answer, for so long no longer keeps
 *     what it names in Envoy
 * @param linger what no processor names any more stays in Envoy for so long, for requests that were
 *     decided just before and for their retries
 */
public record RolloutTimes(
    Duration envoyAbsent, Duration envoyAck, Duration processorAbsent, Duration linger) {
  public static RolloutTimes defaults() {
    return new RolloutTimes(
        Duration.ofSeconds(2),
        Duration.ofSeconds(3),
        Duration.ofSeconds(30),
        Duration.ofSeconds(5));
  }
}
