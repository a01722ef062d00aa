package dev.warmpath.xds.source;

import dev.warmpath.crds.config.RoutingConfiguration.Worker;
import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.resource.ResourceParser;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A folder of YAML and JSON files, and the secrets below {@code secrets/NAME/KEY}.
 *
 * <p>Changes count once the folder has been quiet for a moment, or after {@link #MAX_DELAY} if it
 * never is: {@link FolderReader} tells settled content from content that is being written, {@link
 * FileSet} good files from broken ones.
 */
public final class DirectorySource implements ResourceSource {
  private static final Logger log = LoggerFactory.getLogger(DirectorySource.class);

  /** For file systems that report no events, and names that may resolve anew. */
  static final Duration POLL = Duration.ofSeconds(2);

  static final Duration MAX_DELAY = Duration.ofMillis(200);

  private final NanoClock clock;
  private final FolderReader reader;
  private final FileSet files = new FileSet(new ResourceParser());
  private final HostResolver hosts;
  private final FolderWatcher watcher;
  private final Thread thread;
  private @Nullable Consumer<SourceSnapshot> listener;
  private @Nullable SourceSnapshot last;
  private long changingSinceNanos = Long.MIN_VALUE;
  private volatile boolean closed;

  public DirectorySource(Path folder) {
    this(folder, NanoClock.system());
  }

  DirectorySource(Path folder, NanoClock clock) {
    this.clock = clock;
    reader = new FolderReader(folder, clock);
    hosts = HostResolver.system(clock);
    try {
      watcher = new FolderWatcher();
    } catch (IOException e) {
      throw new UncheckedIOException("the system gives no more file watches", e);
    }
    thread = Thread.ofPlatform().name("directory-source").daemon().unstarted(this::run);
  }

  @Override
  public void start(Consumer<SourceSnapshot> newListener) {
    listener = newListener;
    thread.start();
  }

  @Override
  public void close() {
    closed = true;
    try {
      watcher.close();
      if (thread.isAlive() && Thread.currentThread() != thread) {
        thread.join(Duration.ofSeconds(5));
      }
    } catch (IOException e) {
      log.debug("closing the file watch", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      while (!closed) {
        watcher.watch(reader.watched());
        Duration pause = POLL;
        try {
          pause = look();
        } catch (RuntimeException e) {
          // One bad look must not end all looking.
          log.error("reading the configuration folder failed; trying again", e);
        }
        if (!watcher.await(pause)) {
          return;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Reads and emits if anything changed; returns how long to wait for the next event. */
  private Duration look() {
    FolderReader.Scan scan = reader.scan();
    long now = clock.nanoTime();
    if (scan.unsettled()) {
      if (changingSinceNanos == Long.MIN_VALUE) {
        changingSinceNanos = now;
      }
      // At the start there is nothing to keep in force: wait until everything has been read.
      if (last == null || now - changingSinceNanos < MAX_DELAY.toNanos()) {
        return FolderReader.SETTLE;
      }
    }
    changingSinceNanos = Long.MIN_VALUE;
    SourceSnapshot snapshot = snapshot(scan);
    if (!snapshot.equals(last)) {
      last = snapshot;
      if (listener != null) {
        listener.accept(snapshot);
      }
    }
    return scan.unsettled() ? FolderReader.SETTLE : POLL;
  }

  private SourceSnapshot snapshot(FolderReader.Scan scan) {
    FileSet.Contents contents = files.update(scan.files());
    List<Problem> problems = new ArrayList<>(contents.problems());
    scan.faults().forEach((file, fault) -> problems.add(fault(file, fault)));
    Map<Resource.Key, List<Worker>> workers = new HashMap<>();
    for (Resource<WorkerSetSpec> set : contents.resources().workerSets()) {
      workers.put(set.key(), workers(set, problems));
    }
    Map<Secrets.Entry, String> secrets = new HashMap<>();
    scan.secrets()
        .forEach((path, text) -> {
          int slash = path.indexOf('/');
          secrets.put(
              new Secrets.Entry("", path.substring(0, slash), path.substring(slash + 1)), text);
        });
    return new SourceSnapshot(
        contents.resources(), contents.rejected(), workers, new Secrets(secrets), problems);
  }

  private List<Worker> workers(Resource<WorkerSetSpec> set, List<Problem> problems) {
    List<WorkerSetSpec.Address> addresses = set.spec().workers().addresses();
    if (addresses == null) {
      problems.add(
          problem(
              set,
              "spec.workers",
              "a folder knows no Pods and no Services: list the workers under addresses"));
      return List.of();
    }
    List<Worker> workers = new ArrayList<>();
    for (int i = 0; i < addresses.size(); i++) {
      WorkerSetSpec.Address address = addresses.get(i);
      String ip = hosts.resolve(address.address());
      if (ip == null) {
        problems.add(
            problem(
                set,
                "spec.workers.addresses[" + i + "].address",
                "the host name " + address.address() + " does not resolve"));
      } else {
        workers.add(new Worker(address.name(), ip, address.port(), "", Worker.State.READY));
      }
    }
    return workers;
  }

  private static Problem problem(Resource<?> resource, String field, String message) {
    return new Problem(
        Problem.Severity.WARNING,
        resource.source().file(),
        resource.source().lineOf(field),
        resource.kind(),
        resource.namespace(),
        resource.name(),
        field,
        "WorkersNotFound",
        message);
  }

  private static Problem fault(String file, String message) {
    return new Problem(
        Problem.Severity.ERROR, file, 0, null, "", "", "", "UnreadableFile", message);
  }
}
