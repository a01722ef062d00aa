package dev.warmpath.xds.telemetry;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.Supplier;

/** The control plane's metrics. Thread-safe. */
public final class XdsMetrics {
  private final MeterRegistry registry;

  public XdsMetrics(MeterRegistry registry) {
    this.registry = registry;
  }

  /** A response was sent to an Envoy. */
  public void sent(String type, int resources, int bytes) {
    counter("warmpath.xds.responses", "Responses sent to Envoy", "type", type).increment();
    counter("warmpath.xds.resources", "Resources sent to Envoy", "type", type).increment(resources);
    counter("warmpath.xds.sent.bytes", "Bytes of the responses", "type", type).increment(bytes);
  }

  /** An Envoy took a response. */
  public void acknowledged(String type) {
    counter("warmpath.xds.acks", "Responses that Envoy took", "type", type).increment();
  }

  /** An Envoy refused a response. */
  public void refused(String type) {
    counter("warmpath.xds.nacks", "Responses that Envoy refused", "type", type).increment();
  }

  /** A routing configuration was sent, taken or refused. */
  public void routing(String outcome) {
    counter(
            "warmpath.xds.routing.configurations",
            "Routing configurations by outcome: sent, acked, nacked",
            "outcome",
            outcome)
        .increment();
  }

  /** A gateway was refused before it could ask for anything: certificate or token. */
  public void turnedAway(String by) {
    counter(
            "warmpath.xds.turned.away",
            "Connections and streams refused for their certificate or token",
            "by",
            by)
        .increment();
  }

  /** An object was judged by the webhook. */
  public void admission(String outcome) {
    counter(
            "warmpath.xds.admissions",
            "Objects judged by the webhook: allowed, denied",
            "outcome",
            outcome)
        .increment();
  }

  /** A plan was made of what a source gave. */
  public void planned() {
    Counter.builder("warmpath.xds.plans")
        .description("Plans made of changed resources")
        .register(registry)
        .increment();
  }

  /** A resource's status was written to the API server, or could not be: written, failed. */
  public void statusWritten(String outcome) {
    counter(
            "warmpath.xds.status.writes",
            "Writes of resource status: written, failed",
            "outcome",
            outcome)
        .increment();
  }

  public void gauge(String name, String description, Supplier<Number> value) {
    io.micrometer.core.instrument.Gauge.builder(name, value)
        .description(description)
        .register(registry);
  }

  private Counter counter(String name, String description, String tag, String value) {
    return Counter.builder(name).description(description).tag(tag, value).register(registry);
  }
}
