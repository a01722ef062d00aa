package dev.warmpath.extproc.route;

import dev.warmpath.extproc.candidate.ServedPool;
import dev.warmpath.extproc.candidate.ServedProvider;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * One backend of a tier, as the choice sees it: a pool with the workers that may be used, or a
 * provider.
 *
 * @param upstreamModel the name that the target knows the model under
 * @param usable of positions in the pool's worker list
 * @param inputPricePerMillion for {@code Cheapest}; NaN where unknown, which counts as dearest
 */
public record Target(
    String backend,
    String clusterName,
    String upstreamModel,
    @Nullable ServedPool pool,
    @Nullable ServedProvider provider,
    IntPredicate usable,
    double inputPricePerMillion) {

  /** Every ready worker of a pool. */
  public static Target of(ServedPool pool) {
    return new Target(
        pool.id().name(),
        pool.clusterName(),
        pool.model(),
        pool,
        null,
        i -> pool.workers().get(i).ready(),
        Double.NaN);
  }
}
