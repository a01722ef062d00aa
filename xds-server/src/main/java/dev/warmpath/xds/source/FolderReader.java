package dev.warmpath.xds.source;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads a configuration folder so that only settled content is seen: a file counts once its size,
 * time and inode have been the same for {@link #SETTLE}, and it is gone once it has been absent for
 * {@link #ABSENT}. Until then its earlier content stays.
 *
 * <p>Writers that truncate and write, editors that rename away and write anew, and ConfigMap mounts
 * that swap a symbolic link all pass through states that must never be taken for the user's
 * intention.
 *
 * <p>Not thread-safe: one thread scans.
 */
final class FolderReader {
  static final String SECRETS = "secrets";

  /** Two looks this far apart must see the same file; longer than the pause inside one write. */
  static final Duration SETTLE = Duration.ofMillis(60);

  /** An editor's rename-and-recreate is over well before this. */
  static final Duration ABSENT = Duration.ofMillis(150);

  private static final long MAX_FILE_BYTES = 16L << 20;
  private static final long MAX_SECRET_BYTES = 1L << 20;

  private final Path folder;
  private final NanoClock clock;
  private final Map<String, Entry> entries = new TreeMap<>();

  FolderReader(Path folder, NanoClock clock) {
    this.folder = folder;
    this.clock = clock;
  }

  /**
   * What is in force now.
   *
   * @param files text of each configuration file by file name
   * @param secrets text of each secret entry by {@code NAME/KEY}
   * @param faults what could not be read, by path relative to the folder
   * @param unsettled something is changing: look again after {@link #SETTLE}
   */
  record Scan(
      SortedMap<String, String> files,
      SortedMap<String, String> secrets,
      SortedMap<String, String> faults,
      boolean unsettled) {}

  private record Stamp(long size, FileTime modified, @Nullable Object inode) {}

  private static final class Entry {
    @Nullable Stamp seen;
    long seenSinceNanos;
    @Nullable Stamp loaded;
    @Nullable String text;
    @Nullable String fault;
    boolean absent;
    long absentSinceNanos;
  }

  Scan scan() {
    long now = clock.nanoTime();
    SortedMap<String, String> faults = new TreeMap<>();
    Map<String, Path> present = new TreeMap<>();
    boolean listed = list(present, faults);
    boolean unsettled = false;
    for (Map.Entry<String, Path> file : present.entrySet()) {
      Entry entry = entries.computeIfAbsent(file.getKey(), name -> new Entry());
      unsettled |= look(entry, file.getValue(), file.getKey().startsWith(SECRETS + "/"), now);
    }
    if (listed) {
      unsettled |= dropAbsent(present, now);
    }
    SortedMap<String, String> files = new TreeMap<>();
    SortedMap<String, String> secrets = new TreeMap<>();
    entries.forEach((name, entry) -> {
      if (entry.fault != null) {
        faults.put(name, entry.fault);
      }
      if (entry.text == null) {
        return;
      }
      if (name.startsWith(SECRETS + "/")) {
        secrets.put(name.substring(SECRETS.length() + 1), entry.text);
      } else {
        files.put(name, entry.text);
      }
    });
    return new Scan(files, secrets, faults, unsettled);
  }

  /** The folders whose entries matter, for whoever watches them. */
  List<Path> watched() {
    List<Path> folders = new ArrayList<>();
    folders.add(folder);
    Path secrets = folder.resolve(SECRETS);
    if (Files.isDirectory(secrets)) {
      folders.add(secrets);
      try (DirectoryStream<Path> names = Files.newDirectoryStream(secrets)) {
        for (Path name : names) {
          if (Files.isDirectory(name)) {
            folders.add(name);
          }
        }
      } catch (IOException e) {
        // The scan that follows names the unreadable folder.
      }
    }
    return folders;
  }

  private boolean list(Map<String, Path> present, SortedMap<String, String> faults) {
    if (!Files.isDirectory(folder)) {
      faults.put(".", "the configuration folder is not there; the last content stays in force");
      return false;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        String name = name(file);
        if (isConfiguration(name) && Files.isRegularFile(file)) {
          present.put(name, file);
        }
      }
      Path secrets = folder.resolve(SECRETS);
      if (Files.isDirectory(secrets)) {
        listSecrets(secrets, present);
      }
      return true;
    } catch (IOException | java.nio.file.DirectoryIteratorException e) {
      faults.put(".", "the folder can't be listed: " + reason(e));
      return false;
    }
  }

  private static void listSecrets(Path secrets, Map<String, Path> present) throws IOException {
    try (DirectoryStream<Path> names = Files.newDirectoryStream(secrets)) {
      for (Path secret : names) {
        if (name(secret).startsWith(".") || !Files.isDirectory(secret)) {
          continue;
        }
        try (DirectoryStream<Path> keys = Files.newDirectoryStream(secret)) {
          for (Path key : keys) {
            if (!isTemporary(name(key)) && Files.isRegularFile(key)) {
              present.put(SECRETS + "/" + name(secret) + "/" + name(key), key);
            }
          }
        }
      }
    }
  }

  /** Returns whether this file must be looked at again soon. */
  private static boolean look(Entry entry, Path file, boolean secret, long now) {
    entry.absent = false;
    Stamp stamp;
    try {
      stamp = stamp(file);
    } catch (IOException e) {
      // Gone between listing and looking: the next scan decides.
      return true;
    }
    if (!stamp.equals(entry.seen)) {
      entry.seen = stamp;
      entry.seenSinceNanos = now;
      return true;
    }
    if (stamp.equals(entry.loaded)) {
      return false;
    }
    if (now - entry.seenSinceNanos < SETTLE.toNanos()) {
      return true;
    }
    return load(entry, file, stamp, secret);
  }

  private static boolean load(Entry entry, Path file, Stamp stamp, boolean secret) {
    long limit = secret ? MAX_SECRET_BYTES : MAX_FILE_BYTES;
    if (stamp.size > limit) {
      entry.loaded = stamp;
      entry.fault = "larger than " + limit + " bytes; the earlier content stays in force";
      return false;
    }
    try {
      String text = decode(Files.readAllBytes(file));
      if (!stamp(file).equals(stamp)) {
        entry.seen = null;
        return true;
      }
      entry.loaded = stamp;
      if (text.isBlank() && entry.text != null && !entry.text.isBlank()) {
        entry.fault = "empty; the earlier content stays in force (delete the file to remove it)";
        return false;
      }
      entry.text = text;
      entry.fault = null;
      return false;
    } catch (CharacterCodingException e) {
      entry.loaded = stamp;
      entry.fault = "not UTF-8 text; the earlier content stays in force";
      return false;
    } catch (IOException e) {
      entry.fault = "can't be read: " + reason(e);
      // A permission may be put right without touching size or time.
      return false;
    }
  }

  private boolean dropAbsent(Map<String, Path> present, long now) {
    boolean waiting = false;
    var all = entries.entrySet().iterator();
    while (all.hasNext()) {
      Map.Entry<String, Entry> next = all.next();
      Entry entry = next.getValue();
      if (present.containsKey(next.getKey())) {
        continue;
      }
      if (!entry.absent) {
        entry.absent = true;
        entry.absentSinceNanos = now;
      }
      if (now - entry.absentSinceNanos >= ABSENT.toNanos()) {
        all.remove();
      } else {
        waiting = true;
      }
    }
    return waiting;
  }

  private static Stamp stamp(Path file) throws IOException {
    BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
    return new Stamp(attributes.size(), attributes.lastModifiedTime(), attributes.fileKey());
  }

  private static String decode(byte[] bytes) throws CharacterCodingException {
    return StandardCharsets.UTF_8
        .newDecoder()
        .onMalformedInput(CodingErrorAction.REPORT)
        .decode(ByteBuffer.wrap(bytes))
        .toString();
  }

  private static boolean isConfiguration(String name) {
    return !isTemporary(name)
        && (name.endsWith(".yaml") || name.endsWith(".yml") || name.endsWith(".json"));
  }

  /** Hidden files are editors' swap and lock files, and a ConfigMap's {@code ..data}. */
  private static boolean isTemporary(String name) {
    return name.startsWith(".") || name.startsWith("#") || name.endsWith("~");
  }

  private static String name(Path path) {
    Path name = path.getFileName();
    return name == null ? "" : name.toString();
  }

  private static String reason(Exception e) {
    return e.getClass().getSimpleName() + (e.getMessage() == null ? "" : ": " + e.getMessage());
  }
}
