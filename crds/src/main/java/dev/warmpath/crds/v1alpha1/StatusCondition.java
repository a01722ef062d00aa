package dev.warmpath.crds.v1alpha1;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** One condition of a resource, in the form that Kubernetes tools know. */
public record StatusCondition(
    @Required
        @Size(min = 1, max = 316)
        @JsonPropertyDescription("Accepted, ResolvedRefs, Programmed or Ready.")
        String type,
    @Required @JsonPropertyDescription("True, False or Unknown.") Status status,
    @JsonPropertyDescription("The metadata.generation that the condition is about.")
        @Nullable Long observedGeneration,
    @Required @JsonPropertyDescription("When status last changed, RFC 3339.")
        String lastTransitionTime,
    @Required
        @Size(min = 1, max = 1024)
        @Pattern("^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
        @JsonPropertyDescription("CamelCase word for programs.")
        String reason,
    @Required
        @Size(max = 32768)
        @JsonPropertyDescription("Sentence for people: what is wrong, and where.")
        String message) {
  public enum Status {
    True,
    False,
    Unknown
  }
}
