package dev.warmpath.xds.admission;

import dev.warmpath.crds.resource.ParsedResources;
import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.resource.ResourceParser;
import dev.warmpath.crds.resource.ResourceSet;
import dev.warmpath.crds.resource.ResourceValidator;
import dev.warmpath.xds.plan.Conditions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Whether an object may be stored beside those that exist.
 *
 * <p>An error of the object itself refuses it, and so does an error that it would bring upon
 * another one. A reference to what isn't there is a warning only: the objects of one {@code kubectl
 * apply} arrive one by one, in any order. Pure; any thread.
 */
final class Admission {
  private final ResourceParser parser = new ResourceParser();
  private final ResourceValidator validator;

  /** Each text is one sentence for a person. */
  record Verdict(List<String> errors, List<String> warnings) {
    boolean allowed() {
      return errors.isEmpty();
    }
  }

  Admission(ResourceValidator validator) {
    this.validator = validator;
  }

  /**
   * Judges an object.
   *
   * @param object as the API server would store it
   * @param existing all resources that are well-formed, the object's earlier version among them
   */
  Verdict judge(Map<String, ?> object, ResourceSet existing) {
    ParsedResources parsed = parser.parseObject(object);
    List<String> errors = new ArrayList<>();
    List<String> warnings = new ArrayList<>();
    parsed
        .problems()
        .forEach(problem -> (problem.isError() ? errors : warnings).add(sentence(problem)));
    if (parsed.resources().isEmpty()) {
      return new Verdict(errors, warnings);
    }
    Resource<?> candidate = parsed.resources().all().getFirst();
    List<Resource<?>> others = new ArrayList<>(existing.all());
    others.removeIf(resource -> resource.key().equals(candidate.key()));
    Set<Problem> known = new HashSet<>(validator.validate(existing));
    others.add(candidate);
    for (Problem problem :
        validator.validate(
            ResourceSet.of(others), Set.of(), key -> key.equals(candidate.key()) ? 1 : 0)) {
      boolean own = candidate.key().equals(problem.key());
      if (Conditions.isAboutReferences(problem.reason()) || !problem.isError()) {
        if (own) {
          warnings.add(sentence(problem));
        }
      } else if (own) {
        errors.add(sentence(problem));
      } else if (!known.contains(problem)) {
        errors.add("would break " + problem.key() + ": " + sentence(problem));
      }
    }
    return new Verdict(errors, warnings);
  }

  /** As {@link Problem#toString} without what the API server says itself. */
  private static String sentence(Problem problem) {
    return (problem.field().isEmpty() ? "" : problem.field() + ": ")
        + problem.message()
        + " ("
        + problem.reason()
        + ")";
  }
}
