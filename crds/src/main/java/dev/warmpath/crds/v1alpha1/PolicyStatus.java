package dev.warmpath.crds.v1alpha1;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Whether the policy is in force. Written by the control plane. */
public record PolicyStatus(
    @JsonPropertyDescription("The metadata.generation that this status is about.")
        @Nullable Long observedGeneration,
    @JsonPropertyDescription(
            "The generation whose rules are in force; older than metadata.generation while the newest is not valid. Absent: none.")
        @Nullable Long generationInForce,
    @JsonPropertyDescription(
            "Accepted, ResolvedRefs, Programmed and Ready, each with a reason and a message.")
        List<StatusCondition> conditions) {}
