package dev.warmpath.cli;

import dev.warmpath.cli.input.CommandException;
import dev.warmpath.cli.input.InputFiles;
import dev.warmpath.crds.resource.Kind;
import dev.warmpath.crds.resource.ParsedResources;
import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.resource.ResourceParser;
import dev.warmpath.crds.resource.ResourceSet;
import dev.warmpath.crds.resource.ResourceValidator;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "validate",
    mixinStandardHelpOptions = true,
    description = {
      "Checks configuration files: structure, values, and references between resources.",
      "Exits with 0 if nothing is wrong, 1 if something is, 2 if some file can't be read; the others",
      "are checked all the same."
    },
    footerHeading = "%nExamples:%n",
    footer = {"  warmpath validate examples/quickstart", "  warmpath validate -f pools.yaml"})
final class ValidateCommand implements Callable<Integer> {
  @Parameters(
      arity = "0..1",
      paramLabel = "DIR",
      description = "Folder whose *.yaml, *.yml and *.json files are one configuration.")
  private @Nullable Path directory;

  @Option(
      names = {"-f", "--file"},
      paramLabel = "FILE",
      description = "A file or folder; may be repeated, all are one configuration.")
  private List<Path> files = new ArrayList<>();

  @Option(names = "--strict", description = "Warnings count as errors.")
  private boolean strict;

  // Set by picocli.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Override
  public Integer call() {
    List<Path> sources = new ArrayList<>(files);
    if (directory != null) {
      sources.add(directory);
    }
    if (sources.isEmpty()) {
      throw new CommandException(2, "what is to be checked? warmpath validate DIR, or -f FILE");
    }
    Report report = check(sources);
    PrintWriter err = spec.commandLine().getErr();
    if (report.isEmpty()) {
      throw new CommandException(
          2,
          "nothing to check: no resource in "
              + sources.stream().map(Path::toString).collect(Collectors.joining(", ")));
    }
    report.unreadable().forEach(fault -> err.println("warmpath: " + fault));
    err.flush();
    return print(report, Terminal.standard());
  }

  /**
   * What a configuration holds, and what is wrong with it.
   *
   * @param fileCount files that could be read
   * @param unreadable why others could not, each a sentence that names its file
   */
  record Report(
      int fileCount, ResourceSet resources, List<Problem> problems, List<String> unreadable) {
    /**
     * Whether every file could be read and holds nothing but white space and comments: most likely
     * another one was meant. Beside files that do hold something, such a file is fine.
     */
    boolean isEmpty() {
      return resources.all().isEmpty() && problems.isEmpty() && unreadable.isEmpty();
    }

    boolean hasErrors() {
      return problems.stream().anyMatch(Problem::isError);
    }
  }

  static Report check(List<Path> sources) {
    InputFiles.Configuration files = InputFiles.readable(sources);
    ParsedResources parsed = new ResourceParser().parseAll(files.texts());
    List<Problem> problems = new ArrayList<>(parsed.problems());
    for (Problem problem : new ResourceValidator().validate(parsed.resources())) {
      if (!problems.contains(problem)) {
        problems.add(problem);
      }
    }
    return new Report(
        files.texts().size(), parsed.resources(), problems, List.copyOf(files.faults().values()));
  }

  private int print(Report report, Terminal terminal) {
    for (Problem problem : report.problems()) {
      String text = problem.toString();
      terminal.line(problem.isError() ? terminal.red(text) : terminal.yellow(text));
    }
    long errors = report.problems().stream().filter(Problem::isError).count();
    long warnings = report.problems().size() - errors;
    int unread = report.unreadable().size();
    boolean failed = errors > 0 || (strict && warnings > 0) || unread > 0;
    String counts =
        "%d file%s: %s; %d error%s, %d warning%s%s"
            .formatted(
                report.fileCount(),
                plural(report.fileCount()),
                kinds(report.resources()),
                errors,
                plural(errors),
                warnings,
                plural(warnings),
                unread == 0
                    ? ""
                    : "; %d more can't be read, and count as absent".formatted(unread));
    terminal.line(failed ? terminal.red(counts) : terminal.green(counts));
    return unread > 0 ? 2 : failed ? 1 : 0;
  }

  private static String kinds(ResourceSet resources) {
    Map<Kind, Integer> counts = new EnumMap<>(Kind.class);
    for (Resource<?> resource : resources.all()) {
      counts.merge(resource.kind(), 1, Integer::sum);
    }
    return counts.isEmpty()
        ? "no valid resource"
        : counts.entrySet().stream()
            .map(entry -> entry.getValue() + " " + entry.getKey())
            .collect(Collectors.joining(", "));
  }

  private static String plural(long count) {
    return count == 1 ? "" : "s";
  }
}
