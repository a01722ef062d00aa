package dev.warmpath.crds.resource;

import dev.warmpath.crds.resource.Problem.Severity;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.Glob;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

/** The resources of one validation and what was found. One thread. */
final class Findings {
  private final ResourceSet resources;
  private final Set<Resource.Key> rejected;
  private final ToIntFunction<Resource.Key> rank;
  private final Set<String> modelNames;
  private final List<Problem> problems = new ArrayList<>();

  Findings(ResourceSet resources, Set<Resource.Key> rejected, ToIntFunction<Resource.Key> rank) {
    this.resources = resources;
    this.rejected = rejected;
    this.rank = rank;
    this.modelNames =
        resources.backends().stream()
            .flatMap(backend -> backend.spec().models().stream())
            .collect(Collectors.toUnmodifiableSet());
  }

  ResourceSet resources() {
    return resources;
  }

  /**
   * Backends in the order in which they may claim what only one can have: by rank, then by
   * namespace and name.
   */
  List<Resource<BackendSpec>> backendsByClaim() {
    List<Resource<BackendSpec>> ordered = new ArrayList<>(resources.backends());
    ordered.sort(Comparator.comparingInt(backend -> rank.applyAsInt(backend.key())));
    return ordered;
  }

  List<Problem> problems() {
    return problems;
  }

  void error(Resource<?> resource, String field, Reason reason, String message) {
    problems.add(Problem.of(Severity.ERROR, resource, field, reason, message));
  }

  void warning(Resource<?> resource, String field, Reason reason, String message) {
    problems.add(Problem.of(Severity.WARNING, resource, field, reason, message));
  }

  /** Whether some name that clients can ask for is matched. */
  boolean matchesModel(String glob) {
    return glob.equals("*") || modelNames.stream().anyMatch(name -> Glob.matches(glob, name));
  }

  /** Whether {@code namespace} has the resource; if not, an error of the referrer. */
  boolean reference(Resource<?> referrer, String field, Kind kind, String name, Reason ifAbsent) {
    Resource.Key key = new Resource.Key(kind, referrer.namespace(), name);
    if (resources.get(key) != null) {
      return true;
    }
    if (rejected.contains(key)) {
      error(referrer, field, Reason.ReferenceInvalid, kind + " " + name + " has errors of its own");
      return false;
    }
    List<String> known =
        resources.all().stream()
            .filter(r -> r.kind() == kind && r.namespace().equals(referrer.namespace()))
            .map(Resource::name)
            .toList();
    error(
        referrer,
        field,
        ifAbsent,
        "there is no "
            + kind
            + " "
            + name
            + " in namespace "
            + referrer.namespace()
            + Nearest.hint(name, known));
    return false;
  }

  /** An error for every entry of a list that is equal to an earlier one. */
  <T> void distinct(
      Resource<?> resource, String listField, List<T> entries, String entryField, String what) {
    Map<T, Integer> first = new HashMap<>();
    for (int i = 0; i < entries.size(); i++) {
      Integer earlier = first.putIfAbsent(entries.get(i), i);
      if (earlier != null) {
        error(
            resource,
            FieldPath.item(listField, i) + entryField,
            Reason.DuplicateName,
            what + " " + entries.get(i) + " is already in " + FieldPath.item(listField, earlier));
      }
    }
  }
}
