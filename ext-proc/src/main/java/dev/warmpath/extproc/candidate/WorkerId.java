package dev.warmpath.extproc.candidate;

/**
 * Identity of one engine process. What has been learnt of a worker lives as long as its identity is
 * configured; a restarted process has another epoch and starts cold.
 *
 * @param epoch empty where the source of the configuration cannot tell a restart
 */
public record WorkerId(String namespace, String set, String name, String epoch) {
  @Override
  public String toString() {
    return epoch.isEmpty()
        ? namespace + "/" + set + "/" + name
        : namespace + "/" + set + "/" + name + "@" + epoch;
  }
}
