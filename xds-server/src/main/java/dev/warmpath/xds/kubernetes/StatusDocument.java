package dev.warmpath.xds.kubernetes;

import dev.warmpath.crds.resource.Kind;
import dev.warmpath.crds.v1alpha1.StatusCondition;
import dev.warmpath.crds.v1alpha1.StatusConditions;
import dev.warmpath.xds.status.ResourceStatus;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The {@code status} of an object as JSON maps: from what is known, and back. Pure. */
final class StatusDocument {
  private StatusDocument() {}

  /**
   * What is to be written, in the form of the status records of {@code crds}. Equal to {@code
   * before} where nothing has changed.
   *
   * @param before the status that the object has, or an empty map
   */
  static Map<String, Object> of(ResourceStatus status, Map<String, ?> before, Instant now) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("observedGeneration", status.generation());
    if (status.key().kind() == Kind.POLICY && status.generationInForce() > 0) {
      document.put("generationInForce", status.generationInForce());
    }
    ResourceStatus.Facts facts = status.facts();
    put(document, "workers", facts.workers());
    put(document, "ready", facts.ready());
    put(document, "models", facts.models());
    put(document, "target", facts.target());
    put(document, "keys", facts.keys());
    List<StatusConditions.Finding> findings =
        status.conditions().stream()
            .map(condition ->
                new StatusConditions.Finding(
                    condition.type(),
                    StatusCondition.Status.valueOf(condition.status().name()),
                    status.generation(),
                    condition.reason(),
                    condition.message()))
            .toList();
    List<Map<String, Object>> conditions = new ArrayList<>();
    for (StatusCondition condition : StatusConditions.update(conditions(before), findings, now)) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("type", condition.type());
      one.put("status", condition.status().name());
      put(one, "observedGeneration", condition.observedGeneration());
      one.put("lastTransitionTime", condition.lastTransitionTime());
      one.put("reason", condition.reason());
      one.put("message", condition.message());
      conditions.add(one);
    }
    document.put("conditions", conditions);
    return document;
  }

  /** The conditions that a status holds; what is not one is left out. */
  static List<StatusCondition> conditions(Map<String, ?> status) {
    List<StatusCondition> conditions = new ArrayList<>();
    if (status.get("conditions") instanceof List<?> list) {
      for (Object entry : list) {
        if (entry instanceof Map<?, ?> map
            && map.get("type") instanceof String type
            && map.get("lastTransitionTime") instanceof String time) {
          StatusCondition.Status value = value(map.get("status"));
          if (value == null) {
            continue;
          }
          conditions.add(
              new StatusCondition(
                  type,
                  value,
                  map.get("observedGeneration") instanceof Number number
                      ? (Long) number.longValue()
                      : null,
                  time,
                  text(map.get("reason")),
                  text(map.get("message"))));
        }
      }
    }
    return conditions;
  }

  /** Whether two documents say the same, whatever Java types a JSON reader chose. */
  static boolean isSame(Object one, @Nullable Object other) {
    if (one instanceof Number a && other instanceof Number b) {
      return a.longValue() == b.longValue();
    }
    if (one instanceof Map<?, ?> a && other instanceof Map<?, ?> b) {
      return a.keySet().equals(b.keySet())
          && a.entrySet().stream().allMatch(e -> isSame(e.getValue(), b.get(e.getKey())));
    }
    if (one instanceof List<?> a && other instanceof List<?> b) {
      if (a.size() != b.size()) {
        return false;
      }
      for (int i = 0; i < a.size(); i++) {
        if (!isSame(a.get(i), b.get(i))) {
          return false;
        }
      }
      return true;
    }
    return one.equals(other);
  }

  private static StatusCondition.@Nullable Status value(@Nullable Object status) {
    for (StatusCondition.Status value : StatusCondition.Status.values()) {
      if (value.name().equals(status)) {
        return value;
      }
    }
    return null;
  }

  private static String text(@Nullable Object value) {
    return value instanceof String text ? text : "";
  }

  private static void put(Map<String, Object> map, String key, @Nullable Object value) {
    if (value != null) {
      map.put(key, value);
    }
  }
}
