package dev.warmpath.xds.model;

/** One worker as a pool's cluster sees it. {@code address} is an IP literal. */
public record Endpoint(String address, int port, Health health) {
  /** Envoy's own words: an unhealthy endpoint is used only where the processor names it. */
  public enum Health {
    HEALTHY,
    UNHEALTHY,
    DRAINING
  }

  /** {@code ip:port}, an IPv6 address in brackets: the form in which the processor names it. */
  public String hostPort() {
    return address.indexOf(':') >= 0 ? "[" + address + "]:" + port : address + ":" + port;
  }

  public Endpoint with(Health other) {
    return new Endpoint(address, port, other);
  }
}
