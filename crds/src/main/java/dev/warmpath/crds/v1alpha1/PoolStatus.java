package dev.warmpath.crds.v1alpha1;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How many workers serve the model. Written by the control plane. */
public record PoolStatus(
    @JsonPropertyDescription("The metadata.generation that this status is about.")
        @Nullable Long observedGeneration,
    @JsonPropertyDescription("Workers of all worker sets of the pool.") @Nullable Integer workers,
    @JsonPropertyDescription("Workers that take new requests.") @Nullable Integer ready,
    @JsonPropertyDescription(
            "Accepted, ResolvedRefs, Programmed and Ready, each with a reason and a message.")
        List<StatusCondition> conditions) {}
