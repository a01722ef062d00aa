package dev.warmpath.xds.model;

import java.util.Comparator;

/** Kind, namespace and name of a resource that a user wrote. */
public record ResourceId(String kind, String namespace, String name)
    implements Comparable<ResourceId> {
  private static final Comparator<ResourceId> ORDER =
      Comparator.comparing(ResourceId::kind)
          .thenComparing(ResourceId::namespace)
          .thenComparing(ResourceId::name);

  @Override
  public int compareTo(ResourceId other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return kind + " " + namespace + "/" + name;
  }
}
