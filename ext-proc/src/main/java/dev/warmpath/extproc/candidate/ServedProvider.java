package dev.warmpath.extproc.candidate;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.ProviderSpec;

/** A provider as configured. */
public record ServedProvider(RoutingConfiguration.Id id, ProviderSpec spec, String clusterName) {}
