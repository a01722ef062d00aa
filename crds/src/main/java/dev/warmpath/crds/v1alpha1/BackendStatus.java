package dev.warmpath.crds.v1alpha1;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Whether the backend is in force, and what it serves. Written by the control plane. */
public record BackendStatus(
    @JsonPropertyDescription("The metadata.generation that this status is about.")
        @Nullable Long observedGeneration,
    @JsonPropertyDescription("Names that clients can ask for.") @Nullable Integer models,
    @JsonPropertyDescription("Where requests go: pool/NAME or provider/NAME.")
        @Nullable String target,
    @JsonPropertyDescription(
            "Accepted, ResolvedRefs, Programmed and Ready, each with a reason and a message.")
        List<StatusCondition> conditions) {}
