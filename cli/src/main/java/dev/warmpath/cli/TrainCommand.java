package dev.warmpath.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * Touches what commands use, while the JVM records it for the ahead-of-time cache that {@code
 * bin/warmpath} makes. A failure of one part is a slower start of that part, nothing else.
 */
@Command(name = "train", hidden = true, description = "Records classes for a fast start.")
final class TrainCommand implements Runnable {
  @Override
  public void run() {
    CommandLine line = Main.commandLine();
    StringWriter sink = new StringWriter();
    line.setOut(new PrintWriter(sink));
    line.setErr(new PrintWriter(sink));
    line.execute("version");
    line.execute("--help");
    line.getSubcommands().keySet().forEach(name -> line.execute(name, "--help"));
    try {
      Path folder = Files.createTempDirectory("warmpath-train-");
      Files.writeString(
          folder.resolve("all.yaml"),
          """
          apiVersion: inference.warmpath.dev/v1alpha1
          kind: InferenceWorkerSet
          metadata: {name: train}
          spec: {workers: {addresses: [{name: w0, address: 127.0.0.1, port: 1}]}}
          ---
          apiVersion: inference.warmpath.dev/v1alpha1
          kind: InferencePool
          metadata: {name: train}
          spec: {model: m, workerSets: [{name: train}]}
          ---
          apiVersion: inference.warmpath.dev/v1alpha1
          kind: GatewayBackend
          metadata: {name: train}
          spec: {models: [m], pool: {name: train}}
          """);
      line.execute("validate", folder.toString());
      Files.delete(folder.resolve("all.yaml"));
      Files.delete(folder);
    } catch (Exception e) {
      System.err.println("train: " + e);
    }
  }
}
