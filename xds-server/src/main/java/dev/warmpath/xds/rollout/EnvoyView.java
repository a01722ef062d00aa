package dev.warmpath.xds.rollout;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What one connected Envoy has acknowledged. */
public interface EnvoyView {
  /** Whether the cluster is there with everything that it needs: its endpoints, its secrets. */
  boolean hasCluster(String name);

  /** Addresses ({@code ip:port}) in the acknowledged load assignment of the cluster. */
  Set<String> endpoints(String cluster);

  /** Why Envoy refused what it should have of the cluster; null if it did not. */
  @Nullable String refusal(String cluster);
}
