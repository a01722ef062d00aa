package dev.warmpath.extproc.policy;

import dev.warmpath.crds.v1alpha1.PolicySpec;
import java.util.ArrayList;
import java.util.List;

/**
 * Without any policy: the pool backends with the requested name; a provider is used only if no pool
 * backend has the name.
 */
final class DefaultRoute {
  private final BackendCatalog backends;

  DefaultRoute(BackendCatalog backends) {
    this.backends = backends;
  }

  PolicyPlan plan(RequestFacts request, ClusterState state) {
    List<BackendTarget> serving = backends.serving(request.model());
    if (serving.isEmpty()) {
      return new PolicyPlan.UnknownModel(PolicyTrace.EMPTY);
    }
    boolean local = serving.stream().anyMatch(backend -> !backend.external());
    List<PolicyPlan.Candidate> candidates = new ArrayList<>();
    for (BackendTarget backend : serving) {
      if (local && backend.external()) {
        continue;
      }
      if (backend.external()) {
        if (state.provider(backend.clusterName()).available()) {
          candidates.add(new PolicyPlan.Candidate(backend, EndpointSet.EMPTY));
        }
        continue;
      }
      ClusterState.PoolState pool = state.pool(backend.clusterName());
      long[] words = new long[(pool.size() + 63) >> 6];
      for (int i = 0; i < pool.size(); i++) {
        if (pool.available(i)) {
          words[i >> 6] |= 1L << i;
        }
      }
      EndpointSet endpoints = EndpointSet.of(words);
      if (!endpoints.isEmpty()) {
        candidates.add(new PolicyPlan.Candidate(backend, endpoints));
      }
    }
    if (candidates.isEmpty()) {
      return new PolicyPlan.NoCandidate(
          PolicySpec.OnNoCandidate.Action.Reject,
          "no_capacity",
          "No worker of model '" + request.model() + "' is available.",
          503,
          2,
          0,
          PolicyTrace.EMPTY);
    }
    return new PolicyPlan.Candidates(
        List.of(new PolicyPlan.Tier(0, candidates)),
        PolicySpec.Choose.PredictedTTFT,
        0,
        PolicyTrace.EMPTY);
  }
}
