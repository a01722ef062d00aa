package dev.warmpath.xds.source;

import dev.warmpath.crds.resource.ParsedResources;
import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.Reason;
import dev.warmpath.crds.resource.RejectedResource;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.resource.ResourceParser;
import dev.warmpath.crds.resource.ResourceSet;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Configuration files as one set of resources. A file with an error in it keeps its last good
 * content in force as a whole; one that never was good counts with those documents that are. A
 * resource that stands in two files belongs to the file that had it first.
 *
 * <p>Not thread-safe.
 */
final class FileSet {
  private final ResourceParser parser;
  private final SortedMap<String, File> files = new TreeMap<>();
  private final Map<Resource.Key, String> owners = new HashMap<>();
  private final Map<Resource.Key, Counted> generations = new HashMap<>();

  /** One file: what was read last, and what of it is in force. */
  private record File(String text, ParsedResources read, ParsedResources inForce) {}

  /** The API server counts changes of a spec; for files we do. */
  private record Counted(Record spec, long generation) {}

  record Contents(ResourceSet resources, List<RejectedResource> rejected, List<Problem> problems) {}

  FileSet(ResourceParser parser) {
    this.parser = parser;
  }

  Contents update(SortedMap<String, String> texts) {
    files.keySet().retainAll(texts.keySet());
    texts.forEach((name, text) ->
        files.compute(
            name,
            (n, before) -> {
              if (before != null && before.text.equals(text)) {
                return before;
              }
              ParsedResources read = parser.parse(name, text);
              boolean keep = read.hasErrors() && before != null && isGood(before.inForce);
              return new File(text, read, keep ? before.inForce : read);
            }));
    return merge();
  }

  private static boolean isGood(ParsedResources resources) {
    return !resources.hasErrors();
  }

  private Contents merge() {
    List<Problem> problems = new ArrayList<>();
    Map<Resource.Key, Resource<?>> resources = new HashMap<>();
    List<RejectedResource> rejected = new ArrayList<>();
    Map<Resource.Key, String> newOwners = new HashMap<>();
    for (Map.Entry<String, File> entry : files.entrySet()) {
      problems.addAll(entry.getValue().read.problems());
      for (Resource<?> resource : entry.getValue().inForce.resources().all()) {
        String owner = owners.get(resource.key());
        if (owner == null || !has(owner, resource.key())) {
          owner = newOwners.getOrDefault(resource.key(), entry.getKey());
        }
        newOwners.put(resource.key(), owner);
        if (owner.equals(entry.getKey())) {
          resources.put(resource.key(), numbered(resource));
        } else {
          problems.add(duplicate(resource, owner));
        }
      }
      rejected.addAll(entry.getValue().inForce.rejected());
    }
    rejected.removeIf(resource -> resources.containsKey(resource.key()));
    owners.clear();
    owners.putAll(newOwners);
    generations.keySet().retainAll(resources.keySet());
    return new Contents(ResourceSet.of(resources.values()), rejected, problems);
  }

  private boolean has(String fileName, Resource.Key key) {
    @Nullable File file = files.get(fileName);
    return file != null && file.inForce.resources().get(key) != null;
  }

  private Resource<?> numbered(Resource<?> resource) {
    if (resource.generation() > 0) {
      return resource;
    }
    Counted counted =
        generations.compute(
            resource.key(),
            (key, before) -> {
              if (before == null) {
                return new Counted(resource.spec(), 1);
              }
              return before.spec.equals(resource.spec())
                  ? before
                  : new Counted(resource.spec(), before.generation + 1);
            });
    return resource.withGeneration(counted.generation);
  }

  private static Problem duplicate(Resource<?> resource, String owner) {
    return Problem.of(
        Problem.Severity.ERROR,
        resource,
        "metadata.name",
        Reason.DuplicateResource,
        "the same resource is written in " + owner + "; that one counts");
  }
}
