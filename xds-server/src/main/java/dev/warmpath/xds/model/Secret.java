package dev.warmpath.xds.model;

import dev.warmpath.crds.resource.Resource;

/** A value that Envoy gets by SDS. Never prints it. */
public record Secret(Resource.Key owner, String name, Use use, String value) {
  public enum Use {
    CREDENTIAL,
    CERTIFICATE_AUTHORITIES
  }

  @Override
  public String toString() {
    return "Secret[" + name + ", " + use + "]";
  }
}
