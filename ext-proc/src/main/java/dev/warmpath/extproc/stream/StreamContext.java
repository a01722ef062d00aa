package dev.warmpath.extproc.stream;

import dev.warmpath.extproc.route.RequestRouter;
import dev.warmpath.extproc.telemetry.StreamMetrics;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * What every stream shares.
 *
 * @param nanoClock the clock of {@code RequestHead.arrivalNanos}
 */
public record StreamContext(
    RequestRouter router,
    DecisionPool pool,
    BufferBudget budget,
    long maxBodyBytes,
    Supplier<String> decisionIds,
    LongSupplier nanoClock,
    StreamMetrics metrics) {}
