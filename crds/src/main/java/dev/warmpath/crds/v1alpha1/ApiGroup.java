package dev.warmpath.crds.v1alpha1;

/** Group and version of the resources, as annotations need them. */
public final class ApiGroup {
  public static final String NAME = "inference.warmpath.dev";
  public static final String VERSION = "v1alpha1";

  private ApiGroup() {}
}
