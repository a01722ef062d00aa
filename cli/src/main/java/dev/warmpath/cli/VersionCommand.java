package dev.warmpath.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

@Command(
    name = "version",
    mixinStandardHelpOptions = true,
    description = "Prints the versions of Warmpath, its Envoy and the JVM.",
    footerHeading = "%nExample:%n",
    footer = "  warmpath version")
final class VersionCommand implements Runnable {
  // Set by picocli.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Override
  public void run() {
    for (String line : lines()) {
      spec.commandLine().getOut().println(line);
    }
    spec.commandLine().getOut().flush();
  }

  private static String[] lines() {
    Properties versions = new Properties();
    try (InputStream in = Main.class.getResourceAsStream("/warmpath-version.properties")) {
      if (in != null) {
        versions.load(in);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new String[] {
      "warmpath " + versions.getProperty("version", "unknown"),
      "envoy    " + versions.getProperty("envoy", "unknown"),
      "java     " + Runtime.version(),
    };
  }

  static final class Provider implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return lines();
    }
  }
}
