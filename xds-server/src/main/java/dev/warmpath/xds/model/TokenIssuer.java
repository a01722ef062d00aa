package dev.warmpath.xds.model;

import dev.warmpath.crds.resource.Resource;
import java.net.URI;
import java.util.List;

/**
 * Somebody whose signed tokens identify tenants.
 *
 * @param owner the first tenant that names it
 * @param name of the claims in Envoy's metadata
 * @param issuer the {@code iss} that tokens must have
 * @param keys {@code https}, {@code http} on this machine, or a file of Envoy's machine
 * @param audiences of which tokens must name one; empty where some tenant takes any
 */
public record TokenIssuer(
    Resource.Key owner, String name, String issuer, URI keys, List<String> audiences) {
  public TokenIssuer {
    audiences = List.copyOf(audiences);
  }
}
