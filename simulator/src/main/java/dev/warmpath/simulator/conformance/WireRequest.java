package dev.warmpath.simulator.conformance;

import java.util.Map;

/** A request to send. */
public record WireRequest(String method, String path, Map<String, String> headers, String body) {
  public WireRequest {
    headers = Map.copyOf(headers);
  }

  /** A GET. */
  public static WireRequest get(String path) {
    return new WireRequest("GET", path, Map.of(), "");
  }

  /** A POST of JSON. */
  public static WireRequest post(String path, String json) {
    return new WireRequest("POST", path, Map.of("content-type", "application/json"), json);
  }

  WireRequest with(String header, String value) {
    Map<String, String> all = new java.util.LinkedHashMap<>(headers);
    all.put(header, value);
    return new WireRequest(method, path, all, body);
  }
}
