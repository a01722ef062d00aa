package dev.warmpath.crds.v1alpha1;

/** A reference by name inside the referrer's namespace. */
public record LocalRef(String name) {}
