package dev.warmpath.simulator.api;

import java.util.HexFormat;
import java.util.List;

/**
 * What the server serves and how it answers.
 *
 * @param names names that requests may use, the first one is reported
 * @param root path or hub name that the models page shows
 * @param maxTokens longest prompt plus answer
 * @param answerTokens length of an answer that its request doesn't end earlier
 * @param seed makes the words of answers
 * @param echo answers repeat the last text of the user instead
 * @param countOnly prompts are measured, not tokenized
 * @param version version that is reported
 */
public record ServedModel(
    List<String> names,
    String root,
    int maxTokens,
    int answerTokens,
    long seed,
    boolean echo,
    boolean countOnly,
    String version) {
  public ServedModel {
    names = List.copyOf(names);
    if (names.isEmpty()) {
      throw new IllegalArgumentException("names must hold at least one served model name");
    }
  }

  public String name() {
    return names.getFirst();
  }

  /** The fingerprint in answers. */
  String fingerprint() {
    return "vllm-" + version + "-" + HexFormat.of().toHexDigits((int) (seed * 0x9E3779B9L));
  }
}
