package dev.warmpath.xds.translate;

import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** An immutable set of Envoy resources by type and name. */
public final class EnvoyResources {
  private static final EnvoyResources EMPTY = new EnvoyResources(List.of());

  private final Map<XdsType, SortedMap<String, XdsResource>> byType = new EnumMap<>(XdsType.class);

  public EnvoyResources(Collection<XdsResource> resources) {
    for (XdsType type : XdsType.values()) {
      byType.put(type, new TreeMap<>());
    }
    for (XdsResource resource : resources) {
      XdsResource earlier = of(resource.type()).put(resource.name(), resource);
      if (earlier != null) {
        throw new IllegalArgumentException("two resources " + resource + " and " + earlier);
      }
    }
    byType.replaceAll((type, map) -> Collections.unmodifiableSortedMap(map));
  }

  public static EnvoyResources empty() {
    return EMPTY;
  }

  public SortedMap<String, XdsResource> of(XdsType type) {
    SortedMap<String, XdsResource> resources = byType.get(type);
    if (resources == null) {
      throw new IllegalStateException("every type has a map: " + type);
    }
    return resources;
  }

  public @Nullable XdsResource get(XdsType type, String name) {
    return of(type).get(name);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof EnvoyResources that && byType.equals(that.byType);
  }

  @Override
  public int hashCode() {
    return byType.hashCode();
  }

  @Override
  public String toString() {
    return byType.values().toString();
  }
}
