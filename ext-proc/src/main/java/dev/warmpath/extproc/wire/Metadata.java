package dev.warmpath.extproc.wire;

import com.google.protobuf.ListValue;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.extproc.route.Decision;
import java.util.List;

/** Dynamic metadata of an answer: a struct whose fields are the namespaces. */
final class Metadata {
  private static final Value ONE = Value.newBuilder().setNumberValue(1).build();
  private static final Value TRUE = Value.newBuilder().setBoolValue(true).build();

  private Metadata() {}

  /**
   * Goes out with the headers' answer already: then the access log names the decision of a request
   * that is aborted while it is decided.
   */
  static Struct ofDecision(String decisionId) {
    return Struct.newBuilder()
        .putFields(
            GatewayNames.METADATA_NAMESPACE,
            struct(Struct.newBuilder().putFields(GatewayNames.DECISION_KEY, string(decisionId))))
        .build();
  }

  static Struct ofRouted(String decisionId, Decision.Routed routed) {
    Struct.Builder own =
        Struct.newBuilder().putFields(GatewayNames.DECISION_KEY, string(decisionId));
    if (routed.stripUsageChunk()) {
      own.putFields(GatewayNames.STRIP_USAGE_KEY, TRUE);
    }
    if (routed.modelNames() != null) {
      addModels(own, routed.modelNames());
    }
    Struct.Builder namespaces =
        Struct.newBuilder().putFields(GatewayNames.METADATA_NAMESPACE, struct(own));
    if (!routed.destinations().isEmpty()) {
      namespaces.putFields(
          GatewayNames.LB_NAMESPACE,
          struct(
              Struct.newBuilder()
                  .putFields(GatewayNames.DESTINATION_KEY, string(destinations(routed)))));
    }
    if (routed.clusters().size() > 1) {
      namespaces.putFields(GatewayNames.PLAN_NAMESPACE, struct(plan(routed.clusters())));
    }
    return namespaces.build();
  }

  static String destinations(Decision.Routed routed) {
    return routed.destinations().size() == 1
        ? routed.destinations().getFirst()
        : String.join(",", routed.destinations());
  }

  /** One priority group for each attempt, as Envoy's priority_group specifier reads them. */
  private static Struct.Builder plan(List<String> clusters) {
    ListValue.Builder groups = ListValue.newBuilder();
    for (int attempt = 0; attempt < clusters.size(); attempt++) {
      Struct.Builder cluster =
          Struct.newBuilder()
              .putFields("cluster_name", string(clusters.get(attempt)))
              .putFields("weight", ONE);
      Struct.Builder group =
          Struct.newBuilder()
              .putFields("name", string("g" + attempt))
              .putFields(
                  "clusters",
                  Value.newBuilder()
                      .setListValue(ListValue.newBuilder().addValues(struct(cluster)))
                      .build());
      groups.addValues(struct(group));
    }
    return Struct.newBuilder()
        .putFields("priority_groups", Value.newBuilder().setListValue(groups).build());
  }

  private static void addModels(Struct.Builder own, Decision.ModelNames names) {
    Struct.Builder models = Struct.newBuilder();
    names
        .literalByCluster()
        .forEach((cluster, literal) -> models.putFields(cluster, string(literal)));
    own.putFields(GatewayNames.MODELS_KEY, struct(models))
        .putFields(GatewayNames.MODEL_START_KEY, number(names.start()))
        .putFields(GatewayNames.MODEL_END_KEY, number(names.end()));
  }

  private static Value number(int value) {
    return Value.newBuilder().setNumberValue(value).build();
  }

  private static Value string(String text) {
    return Value.newBuilder().setStringValue(text).build();
  }

  private static Value struct(Struct.Builder fields) {
    return Value.newBuilder().setStructValue(fields).build();
  }
}
