package dev.warmpath.extproc.config;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.config.RoutingConfigurationCodec;
import dev.warmpath.crds.config.RoutingConfigurationCodec.MalformedConfigurationException;
import dev.warmpath.extproc.config.ConfigurationReceiver.RefusedConfigurationException;
import dev.warmpath.extproc.telemetry.ConfigMetrics;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which configuration is in force. Used by one thread at a time; {@link #versionInForce} by any.
 */
public final class ConfigurationState {
  private static final Logger LOG = LoggerFactory.getLogger(ConfigurationState.class);

  private final ConfigurationReceiver receiver;
  private final LastGoodFile lastGood;
  private final ConfigMetrics metrics;
  private volatile String versionInForce = "";

  public ConfigurationState(
      ConfigurationReceiver receiver, LastGoodFile lastGood, ConfigMetrics metrics) {
    this.receiver = receiver;
    this.lastGood = lastGood;
    this.metrics = metrics;
  }

  /** SHA-256 of the configuration in force; empty before the first. */
  public String versionInForce() {
    return versionInForce;
  }

  /** Takes the configuration of an earlier run into force, if there is a readable one. */
  public void restore() {
    try {
      byte[] json = lastGood.read();
      if (json != null) {
        String problem = install(json);
        if (problem == null) {
          LOG.info("serving by the last good configuration {}", shortVersion());
        } else {
          LOG.warn("last good configuration {} is of no use: {}", lastGood, problem);
        }
      }
    } catch (IOException e) {
      LOG.warn("last good configuration {} cannot be read: {}", lastGood, e.toString());
    }
  }

  /** Takes a configuration into force and onto disk, or returns why not. */
  @Nullable String accept(byte[] json, String declaredVersion) {
    if (!declaredVersion.equals(version(json))) {
      metrics.refused();
      return "version: is not the SHA-256 of the configuration";
    }
    if (declaredVersion.equals(versionInForce)) {
      return null;
    }
    String problem = install(json);
    if (problem != null) {
      metrics.refused();
      LOG.warn("configuration {} refused: {}", brief(declaredVersion), problem);
      return problem;
    }
    metrics.applied();
    LOG.info("configuration {} in force", shortVersion());
    try {
      lastGood.write(json);
    } catch (IOException e) {
      // Serving goes on; only a restart without the control plane would miss it.
      metrics.notSaved();
      LOG.warn("configuration cannot be kept in {}: {}", lastGood, e.toString());
    }
    return null;
  }

  private @Nullable String install(byte[] json) {
    try {
      RoutingConfiguration configuration = RoutingConfigurationCodec.fromJson(json);
      String version = version(json);
      receiver.apply(configuration, version);
      versionInForce = version;
      return null;
    } catch (MalformedConfigurationException | RefusedConfigurationException e) {
      return String.valueOf(e.getMessage());
    } catch (RuntimeException e) {
      // A defect of the receiver must not cost the stream, nor what is in force.
      LOG.error("configuration not understood", e);
      return "internal: " + e;
    }
  }

  private String shortVersion() {
    return brief(versionInForce);
  }

  private static String brief(String version) {
    return version.substring(0, Math.min(12, version.length()));
  }

  private static String version(byte[] json) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(json));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
