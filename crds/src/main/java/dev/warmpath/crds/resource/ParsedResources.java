package dev.warmpath.crds.resource;

import java.util.List;

/**
 * The outcome of reading: what is well-formed, what is not, and why.
 *
 * @param resources every resource without an error of its own
 * @param rejected every resource whose kind and name could be read but that has an error
 * @param problems all of them, in the order of the text; warnings too
 */
public record ParsedResources(
    ResourceSet resources, List<RejectedResource> rejected, List<Problem> problems) {
  public ParsedResources {
    rejected = List.copyOf(rejected);
    problems = List.copyOf(problems);
  }

  public boolean hasErrors() {
    return problems.stream().anyMatch(Problem::isError);
  }
}
