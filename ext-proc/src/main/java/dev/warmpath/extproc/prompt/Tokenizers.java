package dev.warmpath.extproc.prompt;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The tokenizers of all configured pools, read in the background, once each. Thread-safe. */
public final class Tokenizers {
  private static final Logger LOG = LoggerFactory.getLogger(Tokenizers.class);

  /** A folder's state. */
  private record Entry(@Nullable ModelTokenizer tokenizer, String problem) {}

  private static final Entry READING = new Entry(null, "the tokenizer is being read");

  private final Map<String, Entry> byPath = new ConcurrentHashMap<>();
  private final Executor executor;
  private volatile Runnable listener = () -> {};

  /**
   * @param executor reads tokenizers, a second or two each
   */
  public Tokenizers(Executor executor) {
    this.executor = executor;
  }

  /** Reads what is new in that configuration. */
  public void configure(RoutingConfiguration configuration) {
    for (RoutingConfiguration.Pool pool : configuration.pools()) {
      PoolSpec.Tokenizer tokenizer = pool.spec().tokenizer();
      if (tokenizer != null && byPath.putIfAbsent(tokenizer.path(), READING) == null) {
        executor.execute(() -> read(tokenizer.path()));
      }
    }
  }

  /** Calls {@code changed} whenever one has been read. */
  public void onChange(Runnable changed) {
    listener = changed;
  }

  private void read(String path) {
    try {
      byPath.put(path, new Entry(ModelTokenizer.load(Path.of(path)), ""));
      LOG.info("tokenizer {} is there", path);
    } catch (IOException | RuntimeException e) {
      String problem = "tokenizer " + path + ": " + e.getMessage();
      LOG.warn("caches are not known exactly: {}", problem);
      byPath.put(path, new Entry(null, problem));
    }
    listener.run();
  }

  /** The tokenizer of that folder, or null while, or because, it is not there. */
  public @Nullable ModelTokenizer get(String path) {
    Entry entry = byPath.get(path);
    return entry == null ? null : entry.tokenizer();
  }

  /** Why it is not there; empty where it is. */
  public String problem(String path) {
    Entry entry = byPath.get(path);
    return entry == null ? "the pool has no tokenizer" : entry.problem();
  }
}
