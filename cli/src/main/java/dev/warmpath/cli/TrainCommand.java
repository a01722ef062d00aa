package dev.warmpath.cli;

import dev.warmpath.envoy.BootstrapOptions;
import dev.warmpath.extproc.ExtProcOptions;
import dev.warmpath.extproc.ExtProcServer;
import dev.warmpath.simulator.Simulator;
import dev.warmpath.simulator.SimulatorOptions;
import dev.warmpath.xds.XdsServer;
import dev.warmpath.xds.XdsServerOptions;
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
  private static final long PATIENCE_NANOS = 10_000_000_000L;

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
      startParts(folder);
      Files.delete(folder.resolve("all.yaml"));
    } catch (Exception e) {
      System.err.println("train: " + e);
    }
  }

  /** What run and demo start, without Envoy. */
  private static void startParts(Path folder) throws Exception {
    Path xdsSocket = folder.resolve(BootstrapOptions.XDS_SOCKET);
    try (XdsServer xds = XdsServer.start(XdsServerOptions.standalone(folder, xdsSocket));
        ExtProcServer processor =
            ExtProcServer.start(
                ExtProcOptions.defaults(folder, "train", BootstrapOptions.DEFAULT_CLUSTER)
                    .withControlPlane(new ExtProcOptions.ControlPlane.UnixSocket(xdsSocket)));
        Simulator simulator = Simulator.start(SimulatorOptions.defaults().withTimeScale(1000));
        DemoLoad load = new DemoLoad(simulator.uri())) {
      load.send(DemoWorkload.warmUp(1, 1).getFirst());
      long deadline = System.nanoTime() + PATIENCE_NANOS;
      while (!(xds.isReady() && processor.ready()) && System.nanoTime() < deadline) {
        Thread.sleep(50);
      }
    }
  }
}
