package dev.warmpath.xds.rollout;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.xds.model.GatewayModel;

/** What every gateway is to reach: Envoy's part and the processor's part of one plan. */
public record Desired(GatewayModel model, RoutingConfiguration routing) {}
