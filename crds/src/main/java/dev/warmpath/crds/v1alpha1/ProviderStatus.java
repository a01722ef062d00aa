package dev.warmpath.crds.v1alpha1;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Whether the provider is in force. Written by the control plane. */
public record ProviderStatus(
    @JsonPropertyDescription("The metadata.generation that this status is about.")
        @Nullable Long observedGeneration,
    @JsonPropertyDescription(
            "Accepted, ResolvedRefs, Programmed and Ready, each with a reason and a message.")
        List<StatusCondition> conditions) {}
