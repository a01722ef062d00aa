package dev.warmpath.xds.source;

import java.io.IOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Wakes a reader when something happened in any of a set of folders. Only the fact counts, never
 * what the event says: the reader looks at the folder itself. Folders are re-registered by inode,
 * so that a folder that was replaced (a ConfigMap mount) is watched again.
 */
final class FolderWatcher implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(FolderWatcher.class);

  private final WatchService service;
  private final Map<Path, Watched> watched = new HashMap<>();

  private record Watched(WatchKey key, @Nullable Object inode) {}

  FolderWatcher() throws IOException {
    service = FileSystems.getDefault().newWatchService();
  }

  void watch(Collection<Path> folders) {
    watched
        .entrySet()
        .removeIf(entry -> {
          boolean stale =
              !folders.contains(entry.getKey())
                  || !entry.getValue().key.isValid()
                  || !java.util.Objects.equals(inode(entry.getKey()), entry.getValue().inode);
          if (stale) {
            entry.getValue().key.cancel();
          }
          return stale;
        });
    for (Path folder : folders) {
      if (!watched.containsKey(folder)) {
        register(folder);
      }
    }
  }

  /** Waits for an event or the timeout; false once closed. */
  boolean await(Duration timeout) throws InterruptedException {
    try {
      WatchKey key = service.poll(timeout.toNanos(), TimeUnit.NANOSECONDS);
      while (key != null) {
        key.pollEvents();
        key.reset();
        key = service.poll();
      }
      return true;
    } catch (ClosedWatchServiceException e) {
      return false;
    }
  }

  @Override
  public void close() throws IOException {
    service.close();
  }

  private void register(Path folder) {
    try {
      Object inode = inode(folder);
      WatchKey key =
          folder.register(
              service,
              StandardWatchEventKinds.ENTRY_CREATE,
              StandardWatchEventKinds.ENTRY_MODIFY,
              StandardWatchEventKinds.ENTRY_DELETE);
      watched.put(folder, new Watched(key, inode));
    } catch (IOException e) {
      // The slow poll still sees changes; a folder that isn't there yet ends here too.
      log.debug("can't watch {}: {}", folder, e.toString());
    }
  }

  private static @Nullable Object inode(Path folder) {
    try {
      return Files.readAttributes(folder, java.nio.file.attribute.BasicFileAttributes.class)
          .fileKey();
    } catch (IOException e) {
      return null;
    }
  }
}
