package dev.warmpath.extproc.config;

import dev.warmpath.crds.config.RoutingConfiguration;

/** Takes configurations into force. Called by one thread at a time. */
public interface ConfigurationReceiver {

  /**
   * From its return on requests are routed by {@code configuration}.
   *
   * @param version SHA-256 of its JSON form
   * @throws RefusedConfigurationException with field and reason; what was in force stays
   */
  void apply(RoutingConfiguration configuration, String version)
      throws RefusedConfigurationException;

  /** A configuration that cannot be taken into force. */
  final class RefusedConfigurationException extends Exception {
    private static final long serialVersionUID = 1L;

    public RefusedConfigurationException(String reason, Throwable cause) {
      super(reason, cause);
    }
  }
}
