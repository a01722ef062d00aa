package dev.warmpath.crds.resource;

import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.crds.v1alpha1.ProviderSpec;
import dev.warmpath.crds.v1alpha1.TenantSpec;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Resources by kind, namespace and name; immutable. Every list is sorted by namespace, then name.
 */
public final class ResourceSet {
  private static final ResourceSet EMPTY = new ResourceSet(new TreeMap<>());

  private final SortedMap<Resource.Key, Resource<?>> byKey;

  private ResourceSet(SortedMap<Resource.Key, Resource<?>> byKey) {
    this.byKey = Collections.unmodifiableSortedMap(byKey);
  }

  public static ResourceSet empty() {
    return EMPTY;
  }

  /**
   * The set of these resources.
   *
   * @throws IllegalArgumentException if two have the same kind, namespace and name
   */
  public static ResourceSet of(Collection<? extends Resource<?>> resources) {
    SortedMap<Resource.Key, Resource<?>> byKey = new TreeMap<>();
    for (Resource<?> resource : resources) {
      if (byKey.put(resource.key(), resource) != null) {
        throw new IllegalArgumentException("two resources are " + resource.key());
      }
    }
    return new ResourceSet(byKey);
  }

  /** Every resource, sorted by kind, namespace and name. */
  public List<Resource<?>> all() {
    return List.copyOf(byKey.values());
  }

  public int size() {
    return byKey.size();
  }

  public boolean isEmpty() {
    return byKey.isEmpty();
  }

  public @Nullable Resource<?> get(Resource.Key key) {
    return byKey.get(key);
  }

  /** The resources that satisfy {@code keep}. */
  public ResourceSet filter(Predicate<Resource<?>> keep) {
    return of(byKey.values().stream().filter(keep).toList());
  }

  public List<Resource<WorkerSetSpec>> workerSets() {
    return ofKind(Kind.WORKER_SET);
  }

  public List<Resource<PoolSpec>> pools() {
    return ofKind(Kind.POOL);
  }

  public List<Resource<ProviderSpec>> providers() {
    return ofKind(Kind.PROVIDER);
  }

  public List<Resource<BackendSpec>> backends() {
    return ofKind(Kind.BACKEND);
  }

  public List<Resource<PolicySpec>> policies() {
    return ofKind(Kind.POLICY);
  }

  public List<Resource<TenantSpec>> tenants() {
    return ofKind(Kind.TENANT);
  }

  public @Nullable Resource<WorkerSetSpec> workerSet(String namespace, String name) {
    return find(Kind.WORKER_SET, namespace, name);
  }

  public @Nullable Resource<PoolSpec> pool(String namespace, String name) {
    return find(Kind.POOL, namespace, name);
  }

  public @Nullable Resource<ProviderSpec> provider(String namespace, String name) {
    return find(Kind.PROVIDER, namespace, name);
  }

  public @Nullable Resource<BackendSpec> backend(String namespace, String name) {
    return find(Kind.BACKEND, namespace, name);
  }

  public @Nullable Resource<PolicySpec> policy(String namespace, String name) {
    return find(Kind.POLICY, namespace, name);
  }

  public @Nullable Resource<TenantSpec> tenant(String namespace, String name) {
    return find(Kind.TENANT, namespace, name);
  }

  // Safe: a Resource checks at construction that its spec has the type of its kind.
  @SuppressWarnings("unchecked")
  private <S extends Record> List<Resource<S>> ofKind(Kind kind) {
    List<Resource<S>> found = new ArrayList<>();
    for (Resource<?> resource : byKey.values()) {
      if (resource.kind() == kind) {
        found.add((Resource<S>) resource);
      }
    }
    return List.copyOf(found);
  }

  // Safe for the same reason.
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private <S extends Record> @Nullable Resource<S> find(Kind kind, String namespace, String name) {
    return (Resource<S>) byKey.get(new Resource.Key(kind, namespace, name));
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof ResourceSet set && byKey.equals(set.byKey);
  }

  @Override
  public int hashCode() {
    return byKey.hashCode();
  }

  @Override
  public String toString() {
    return byKey.keySet().toString();
  }
}
