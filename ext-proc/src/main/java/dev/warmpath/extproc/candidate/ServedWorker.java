package dev.warmpath.extproc.candidate;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;

/**
 * A worker as configured.
 *
 * @param ordinal small number that stands for the identity inside the process
 * @param endpoint "ip:port", an IPv6 address in brackets, as Envoy writes it
 */
public record ServedWorker(
    WorkerId id,
    int ordinal,
    String endpoint,
    RoutingConfiguration.Worker.State state,
    WorkerSetSpec.Engine engine,
    WorkerSetSpec.Profile profile) {

  /** Workers of one hardware name share a cost model; a set without a name is its own kind. */
  public String hardware() {
    String named = profile.hardware();
    return named == null || named.isEmpty() ? id.namespace() + "/" + id.set() : named;
  }

  public boolean ready() {
    return state == RoutingConfiguration.Worker.State.READY;
  }
}
