package dev.warmpath.crds.resource;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;

/**
 * Checks that need more than one resource, and those of one that the schema can't state. Pure: no
 * network, no clock, the same resources give the same problems.
 *
 * <p>An error means that the resource can't be used as it stands; a warning that it is in force and
 * probably not what was meant. Only errors of the resource itself are reported on it: a backend
 * whose pool has an error keeps its own good state.
 */
public final class ResourceValidator {
  private static final Comparator<Problem> ORDER =
      Comparator.comparing(Problem::file)
          .thenComparingInt(Problem::line)
          .thenComparing(problem -> problem.kind() == null ? "" : problem.kind().kindName())
          .thenComparing(Problem::namespace)
          .thenComparing(Problem::name)
          .thenComparing(Problem::field)
          .thenComparing(Problem::message);

  public ResourceValidator() {}

  /** Every problem of what was read, without those that the reading itself found. */
  public List<Problem> validate(ParsedResources parsed) {
    return validate(
        parsed.resources(), parsed.rejected().stream().map(RejectedResource::key).toList());
  }

  /** Every problem of these resources, in the order of their text. */
  public List<Problem> validate(ResourceSet resources) {
    return validate(resources, Set.of());
  }

  /**
   * The same, where some resources exist but could not be read.
   *
   * @param rejected what a reference to should be told apart from one to nothing
   */
  public List<Problem> validate(ResourceSet resources, Collection<Resource.Key> rejected) {
    return validate(resources, rejected, key -> 0);
  }

  /**
   * The same, where some resources were there before others.
   *
   * @param rank of two that claim what only one can have, the one with the lower rank keeps it and
   *     the other has the error; of equal ranks the first by name does
   */
  public List<Problem> validate(
      ResourceSet resources, Collection<Resource.Key> rejected, ToIntFunction<Resource.Key> rank) {
    Findings findings = new Findings(resources, Set.copyOf(rejected), rank);
    new WorkerChecks(findings).run();
    new ProviderChecks(findings).run();
    new BackendChecks(findings).run();
    new TenantChecks(findings).run();
    new PolicyChecks(findings).run();
    List<Problem> problems = new ArrayList<>(findings.problems());
    problems.sort(ORDER);
    return List.copyOf(problems);
  }
}
