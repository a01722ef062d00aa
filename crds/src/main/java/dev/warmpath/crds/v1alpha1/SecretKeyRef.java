package dev.warmpath.crds.v1alpha1;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/**
 * One entry of a Secret in the referrer's namespace. Stand-alone: file {@code secrets/NAME/KEY}
 * below the folder.
 */
public record SecretKeyRef(
    @Required
        @Size(min = 1, max = 253)
        @JsonPropertyDescription(
            "Name of a Secret in the same namespace. Stand-alone: the folder secrets/NAME beside the resources.")
        String name,
    @Required
        @Size(min = 1, max = 253)
        @JsonPropertyDescription(
            "Key inside the Secret. Stand-alone: the file secrets/NAME/KEY; a trailing newline is not part of the value.")
        String key) {}
