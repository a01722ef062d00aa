package dev.warmpath.crds.resource;

import java.util.List;

/** Checks that need more than one resource. Pure; no network, no clock. */
public final class ResourceValidator {
  public ResourceValidator() {}

  /** Every problem of these resources, sorted by kind, namespace and name. */
  public List<Problem> validate(ResourceSet resources) {
    return List.of();
  }
}
