package dev.warmpath.crds.cel;

import com.google.common.collect.ImmutableCollection;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import dev.cel.common.types.CelType;
import dev.cel.common.types.CelTypeProvider;
import dev.cel.common.types.MapType;
import dev.cel.common.types.SimpleType;
import dev.cel.common.types.StructType;
import dev.cel.common.types.StructTypeReference;
import java.util.List;
import java.util.Optional;

/** The variables of expressions and the types of their fields. */
final class CelVariables {
  static final MapType LABELS = MapType.create(SimpleType.STRING, SimpleType.STRING);

  static final StructType REQUEST =
      struct(
          "Request",
          ImmutableMap.of(
              "model", SimpleType.STRING,
              "path", SimpleType.STRING,
              "dialect", SimpleType.STRING,
              "promptTokens", SimpleType.INT,
              "maxTokens", SimpleType.INT,
              "stream", SimpleType.BOOL,
              "tools", SimpleType.BOOL,
              "images", SimpleType.INT,
              "priority", SimpleType.INT));

  static final StructType TENANT =
      struct("Tenant", ImmutableMap.of("name", SimpleType.STRING, "labels", LABELS));

  static final StructType PRICING =
      struct(
          "Pricing",
          ImmutableMap.of(
              "currency", SimpleType.STRING,
              "inputPerMillion", SimpleType.DOUBLE,
              "cachedInputPerMillion", SimpleType.DOUBLE,
              "outputPerMillion", SimpleType.DOUBLE));

  static final StructType BACKEND =
      struct(
          "Backend",
          ImmutableMap.of(
              "name", SimpleType.STRING,
              "model", SimpleType.STRING,
              "labels", LABELS,
              "external", SimpleType.BOOL,
              "pool", SimpleType.STRING,
              "provider", SimpleType.STRING,
              "pricing", StructTypeReference.create(PRICING.name())));

  static final StructType POOL =
      struct(
          "Pool",
          ImmutableMap.of(
              "queuedPrompts", SimpleType.INT,
              "runningRequests", SimpleType.INT,
              "kvCacheUsage", SimpleType.DOUBLE,
              "readyWorkers", SimpleType.INT));

  static final StructType ENDPOINT =
      struct(
          "Endpoint",
          ImmutableMap.of(
              "name", SimpleType.STRING,
              "set", SimpleType.STRING,
              "hardware", SimpleType.STRING,
              "queuedPrompts", SimpleType.INT,
              "runningRequests", SimpleType.INT,
              "kvCacheUsage", SimpleType.DOUBLE,
              "cachedTokens", SimpleType.INT,
              "predictedTtft", SimpleType.DURATION));

  static final List<StructType> STRUCTS =
      List.of(REQUEST, TENANT, PRICING, BACKEND, POOL, ENDPOINT);

  /** Known wherever an expression stands. */
  static final ImmutableMap<String, CelType> OF_REQUEST =
      ImmutableMap.of(
          "request",
          REQUEST,
          "tenant",
          TENANT,
          References.LABELS,
          LABELS,
          "now",
          SimpleType.TIMESTAMP);

  static final CelTypeProvider TYPES =
      new CelTypeProvider() {
        @Override
        public ImmutableCollection<CelType> types() {
          return ImmutableList.copyOf(STRUCTS);
        }

        @Override
        public Optional<CelType> findType(String name) {
          return STRUCTS.stream()
              .filter(type -> type.name().equals(name))
              .<CelType>map(type -> type)
              .findFirst();
        }
      };

  private CelVariables() {}

  private static StructType struct(String name, ImmutableMap<String, CelType> fields) {
    return StructType.create(
        "warmpath." + name,
        ImmutableSet.copyOf(fields.keySet()),
        field -> Optional.ofNullable(fields.get(field)));
  }
}
