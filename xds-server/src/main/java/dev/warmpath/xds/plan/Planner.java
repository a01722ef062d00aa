package dev.warmpath.xds.plan;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.resource.Kind;
import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.RejectedResource;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.resource.ResourceSet;
import dev.warmpath.crds.resource.ResourceValidator;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.xds.source.SourceSnapshot;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Decides which version of each resource is in force.
 *
 * <p>A new version with an error does not replace a version that was accepted. Nor does an accepted
 * version lose its force when something that it refers to goes away: what is missing narrows it,
 * and shows as a problem. A policy that never was accepted and could constrain makes its models
 * unavailable, since the constraint could be the one that matters.
 *
 * <p>Not thread-safe: one thread plans.
 */
public final class Planner {
  private final ResourceValidator validator;
  private final Map<Resource.Key, Resource<?>> accepted = new HashMap<>();

  public Planner(ResourceValidator validator) {
    this.validator = validator;
  }

  public Plan plan(SourceSnapshot snapshot) {
    Map<Resource.Key, Resource<?>> written = new TreeMap<>();
    snapshot.resources().all().forEach(resource -> written.put(resource.key(), resource));
    Map<Resource.Key, RejectedResource> rejected = new TreeMap<>();
    snapshot.rejected().forEach(resource -> rejected.put(resource.key(), resource));
    accepted.keySet().removeIf(key -> !written.containsKey(key) && !rejected.containsKey(key));

    Map<Resource.Key, Resource<?>> candidates = new TreeMap<>(written);
    for (Resource.Key key : rejected.keySet()) {
      Resource<?> good = accepted.get(key);
      if (good != null) {
        candidates.put(key, good);
      }
    }
    List<Problem> found = settle(candidates);
    for (Resource<?> resource : candidates.values()) {
      accepted.put(resource.key(), resource);
    }

    Set<Resource.Key> allKeys = new HashSet<>(written.keySet());
    allKeys.addAll(rejected.keySet());
    List<Problem> problems = new ArrayList<>(snapshot.problems());
    problems.addAll(found);
    Compiler.Compiled compiled =
        new Compiler(
                ResourceSet.of(candidates.values()),
                snapshot.workers(),
                snapshot.secrets(),
                allKeys)
            .compile();
    problems.addAll(withoutRepetition(compiled.problems(), problems));
    RoutingConfiguration routing =
        FailClosed.add(
            compiled.routing(),
            written.values().stream().filter(r -> !candidates.containsKey(r.key())).toList(),
            rejected.values().stream().filter(r -> !candidates.containsKey(r.key())).toList());
    return new Plan(compiled.model(), routing, problems, states(written, rejected, candidates));
  }

  /**
   * Replaces or drops what has errors, until what is left is consistent, and returns the problems
   * of all versions that were looked at. Each round takes at least one version out, so it ends.
   */
  private List<Problem> settle(Map<Resource.Key, Resource<?>> candidates) {
    List<Problem> problems = new ArrayList<>();
    Set<Problem> seen = new HashSet<>();
    boolean changed = true;
    boolean asWritten = true;
    while (changed) {
      changed = false;
      for (Problem problem :
          validator.validate(
              ResourceSet.of(candidates.values()), Set.of(), key -> rank(key, candidates))) {
        // What refers to something that was just taken out has no fault of its own; that it is
        // narrowed is the compiler's to say.
        if (asWritten && seen.add(problem)) {
          problems.add(problem);
        }
        Resource.Key key = problem.key();
        Resource<?> candidate = key == null ? null : candidates.get(key);
        if (key == null || candidate == null || !problem.isError()) {
          continue;
        }
        Resource<?> good = accepted.get(key);
        if (good == null) {
          // Never accepted. What merely refers to nothing is of no harm; a policy could be.
          if (problemIsOwn(problem) || key.kind() == Kind.POLICY) {
            candidates.remove(key);
            changed = true;
          }
        } else if (!good.spec().equals(candidate.spec())) {
          candidates.put(key, good);
          changed = true;
        }
      }
      asWritten = false;
    }
    return problems;
  }

  /** Who was there first keeps what it has: as it stands, then changed, then new. */
  private int rank(Resource.Key key, Map<Resource.Key, Resource<?>> candidates) {
    Resource<?> good = accepted.get(key);
    Resource<?> candidate = candidates.get(key);
    if (good == null || candidate == null) {
      return 2;
    }
    return good.spec().equals(candidate.spec()) ? 0 : 1;
  }

  private static boolean problemIsOwn(Problem problem) {
    return !Conditions.isAboutReferences(problem.reason());
  }

  private static List<Problem> withoutRepetition(List<Problem> more, List<Problem> known) {
    Set<String> told = new HashSet<>();
    known.forEach(problem -> told.add(problem.key() + " " + problem.field()));
    return more.stream()
        .filter(problem -> !told.contains(problem.key() + " " + problem.field()))
        .toList();
  }

  private static Map<Resource.Key, Plan.State> states(
      Map<Resource.Key, Resource<?>> written,
      Map<Resource.Key, RejectedResource> rejected,
      Map<Resource.Key, Resource<?>> inForce) {
    Map<Resource.Key, Plan.State> states = new HashMap<>();
    written.forEach((key, resource) -> {
      Resource<?> used = inForce.get(key);
      Plan.Acceptance acceptance =
          used == null
              ? Plan.Acceptance.REFUSED
              : used.spec().equals(resource.spec())
                  ? Plan.Acceptance.ACCEPTED
                  : Plan.Acceptance.LAST_GOOD;
      states.put(
          key,
          new Plan.State(resource.generation(), used == null ? 0 : used.generation(), acceptance));
    });
    rejected.forEach((key, resource) -> {
      Resource<?> used = inForce.get(key);
      states.put(
          key,
          new Plan.State(
              resource.generation(),
              used == null ? 0 : used.generation(),
              used == null ? Plan.Acceptance.REFUSED : Plan.Acceptance.LAST_GOOD));
    });
    return states;
  }

  /** Whether a policy that isn't in force could have had something to forbid. */
  static boolean constrains(PolicySpec policy) {
    return policy.mode() == PolicySpec.Mode.Enforce && !policy.constraints().isEmpty();
  }
}
