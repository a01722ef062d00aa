package dev.warmpath.extproc.route;

import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.extproc.candidate.ServedPool;
import dev.warmpath.extproc.prompt.ModelTokenizer;
import dev.warmpath.extproc.prompt.TokenPrompt;
import dev.warmpath.extproc.prompt.Tokenizers;
import dev.warmpath.extproc.request.Operation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One request in the tokens of the models that may serve it; tokenised once for each tokenizer, and
 * only where the contents of some worker's cache are known exactly. One thread at a time.
 */
final class TokenView {
  private final @Nullable Tokenizers tokenizers;
  private final Operation operation;
  private final byte[] body;
  private final Map<String, @Nullable TokenPrompt> read = new HashMap<>();

  TokenView(@Nullable Tokenizers tokenizers, Operation operation, byte[] body) {
    this.tokenizers = tokenizers;
    this.operation = operation;
    this.body = body;
  }

  /** By the folder of the tokenizer; not under the router's lock, for it takes milliseconds. */
  Map<String, TokenPrompt> of(List<List<Target>> tiers, PoolRouter router) {
    Tokenizers known = tokenizers;
    if (known == null) {
      return Map.of();
    }
    Map<String, TokenPrompt> all = new HashMap<>();
    for (List<Target> tier : tiers) {
      for (Target target : tier) {
        ServedPool pool = target.pool();
        PoolSpec.Tokenizer tokenizer = pool == null ? null : pool.spec().tokenizer();
        if (pool != null && tokenizer != null && router.knowsExactly(pool)) {
          TokenPrompt prompt =
              read.computeIfAbsent(tokenizer.path(), path -> read(known.get(path), router));
          if (prompt != null) {
            all.put(tokenizer.path(), prompt);
          }
        }
      }
    }
    return all;
  }

  private @Nullable TokenPrompt read(@Nullable ModelTokenizer tokenizer, PoolRouter router) {
    if (tokenizer == null) {
      return null;
    }
    ModelTokenizer.Result result = tokenizer.read(operation, body);
    router.tokenised(result.prompt() != null);
    return result.prompt();
  }
}
