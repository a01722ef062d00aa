package dev.warmpath.e2e.support;

/** A header line in the case and place in which it came. */
public record Header(String name, String value) {}
