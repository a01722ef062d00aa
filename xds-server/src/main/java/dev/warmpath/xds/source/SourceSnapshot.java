package dev.warmpath.xds.source;

import dev.warmpath.crds.config.RoutingConfiguration.Worker;
import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.RejectedResource;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.resource.ResourceSet;
import java.util.List;
import java.util.Map;

/**
 * All that a source knows at one time.
 *
 * @param resources every well-formed resource
 * @param rejected resources that are written but can't be read
 * @param workers the workers of each worker set, as far as they could be found
 * @param problems what the source met; none of them about references between resources
 */
public record SourceSnapshot(
    ResourceSet resources,
    List<RejectedResource> rejected,
    Map<Resource.Key, List<Worker>> workers,
    Secrets secrets,
    List<Problem> problems) {
  public SourceSnapshot {
    rejected = List.copyOf(rejected);
    workers = Map.copyOf(workers);
    problems = List.copyOf(problems);
  }
}
