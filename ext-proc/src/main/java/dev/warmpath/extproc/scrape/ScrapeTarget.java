package dev.warmpath.extproc.scrape;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.config.RoutingConfiguration.Pool;
import dev.warmpath.crds.config.RoutingConfiguration.Worker;
import dev.warmpath.crds.config.RoutingConfiguration.WorkerSet;
import dev.warmpath.crds.v1alpha1.LocalRef;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import dev.warmpath.extproc.candidate.WorkerId;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/**
 * One worker's metrics page.
 *
 * @param model served name whose samples count, where the worker labels by model; empty for all
 * @param intervalNanos between two scrapes of a busy worker
 */
record ScrapeTarget(
    WorkerId worker, URI page, WorkerSetSpec.Engine engine, String model, long intervalNanos) {

  /** Every worker of a configuration whose engine reports anything. */
  static List<ScrapeTarget> of(RoutingConfiguration configuration) {
    List<ScrapeTarget> targets = new ArrayList<>();
    for (WorkerSet set : configuration.workerSets()) {
      if (EngineNames.of(set.engine()) == null) {
        continue;
      }
      String model = model(configuration, set);
      for (Worker worker : set.workers()) {
        String host =
            worker.address().indexOf(':') < 0 ? worker.address() : "[" + worker.address() + "]";
        targets.add(
            new ScrapeTarget(
                new WorkerId(set.id().namespace(), set.id().name(), worker.name(), worker.epoch()),
                URI.create("http://" + host + ":" + worker.port() + set.metrics().path()),
                set.engine(),
                model,
                set.metrics().interval().toNanos()));
      }
    }
    return targets;
  }

  /** The served name, if all pools on this set agree on one. */
  private static String model(RoutingConfiguration configuration, WorkerSet set) {
    String model = "";
    for (Pool pool : configuration.pools()) {
      if (!pool.id().namespace().equals(set.id().namespace())
          || !pool.spec().workerSets().contains(new LocalRef(set.id().name()))) {
        continue;
      }
      if (!model.isEmpty() && !model.equals(pool.spec().model())) {
        return "";
      }
      model = pool.spec().model();
    }
    return model;
  }
}
