package dev.warmpath.crds.resource;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One resource, well-formed by itself: every default is filled in and every single-object rule
 * holds. Whether its references resolve is {@link ResourceValidator}'s to say.
 *
 * @param uid the API server's id; null for a file
 * @param generation the API server's counter of spec changes; 0 where the source has none
 */
public record Resource<S extends Record>(
    Kind kind,
    String namespace,
    String name,
    @Nullable String uid,
    long generation,
    Map<String, String> labels,
    Map<String, String> annotations,
    S spec,
    SourceLocation source) {

  public Resource {
    if (!kind.specType().isInstance(spec)) {
      throw new IllegalArgumentException(
          kind + " has a spec of " + kind.specType() + ", got " + spec.getClass());
    }
    labels = Map.copyOf(labels);
    annotations = Map.copyOf(annotations);
  }

  public Resource<S> withGeneration(long newGeneration) {
    return new Resource<>(
        kind, namespace, name, uid, newGeneration, labels, annotations, spec, source);
  }

  public Key key() {
    return new Key(kind, namespace, name);
  }

  /** What identifies a resource among all. */
  public record Key(Kind kind, String namespace, String name) implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
      int byKind = kind.compareTo(other.kind);
      if (byKind != 0) {
        return byKind;
      }
      int byNamespace = namespace.compareTo(other.namespace);
      return byNamespace != 0 ? byNamespace : name.compareTo(other.name);
    }

    /** {@code InferencePool default/qwen}. */
    @Override
    public String toString() {
      return kind + " " + namespace + "/" + name;
    }
  }
}
