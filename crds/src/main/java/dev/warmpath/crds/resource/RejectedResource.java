package dev.warmpath.crds.resource;

import java.util.List;

/**
 * A resource that was written but could not be read. What is known of it decides whether its last
 * good version stays in force, and what must fail closed without one.
 *
 * @param policyModels for a policy: the globs of its match as far as they could be read; empty
 *     means that it could be for every model
 * @param mayConstrain for a policy: false only if it surely has no constraints
 */
public record RejectedResource(
    Kind kind,
    String namespace,
    String name,
    long generation,
    SourceLocation source,
    List<String> policyModels,
    boolean mayConstrain) {
  public RejectedResource {
    policyModels = List.copyOf(policyModels);
  }

  public Resource.Key key() {
    return new Resource.Key(kind, namespace, name);
  }
}
