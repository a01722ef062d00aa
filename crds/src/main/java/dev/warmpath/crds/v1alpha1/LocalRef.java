package dev.warmpath.crds.v1alpha1;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** A reference by name inside the referrer's namespace. */
public record LocalRef(
    @Required
        @Size(min = 1, max = 253)
        @JsonPropertyDescription("Name of a resource in the same namespace.")
        String name) {}
