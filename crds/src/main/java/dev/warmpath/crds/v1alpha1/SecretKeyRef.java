package dev.warmpath.crds.v1alpha1;

/**
 * One entry of a Secret in the referrer's namespace. Stand-alone: file {@code secrets/NAME/KEY}
 * below the folder.
 */
public record SecretKeyRef(String name, String key) {}
