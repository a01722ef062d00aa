package dev.warmpath.cli;

import dev.warmpath.cli.input.CommandException;
import dev.warmpath.envoy.Address;
import dev.warmpath.envoy.BootstrapOptions;
import dev.warmpath.extproc.ExtProcOptions;
import dev.warmpath.extproc.ExtProcServer;
import dev.warmpath.extproc.serve.ControlPlaneChannels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "ext-proc",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Runs the processor alone, beside an Envoy: reads prompts, predicts, decides.",
    footerHeading = "%nExample:%n",
    footer = {
      "  warmpath ext-proc --run-dir /run/warmpath --xds xds.example:18000 --node-id gateway-1"
          + " --xds-ca ca.crt --xds-cert tls.crt --xds-key tls.key"
    })
final class ExtProcCommand implements Callable<Integer> {
  // Set by picocli.
  @SuppressWarnings("NullAway.Init")
  @Option(
      names = "--run-dir",
      required = true,
      paramLabel = "DIR",
      description = "For the socket ext-proc.sock and the last good configuration.")
  private Path runDirectory;

  @Option(
      names = "--xds",
      paramLabel = "ADDRESS",
      description =
          "Control plane: HOST:PORT or unix:FILE (default: the socket xds.sock in the run"
              + " directory).")
  private @Nullable String xds;

  @Mixin private XdsSecurityFlags xdsSecurity = new XdsSecurityFlags();

  @Option(
      names = "--node-id",
      defaultValue = "gateway-1",
      description = "As the Envoy beside it reports (default: ${DEFAULT-VALUE}).")
  private String nodeId = "";

  @Option(
      names = "--node-cluster",
      defaultValue = BootstrapOptions.DEFAULT_CLUSTER,
      description = "As the Envoy beside it reports (default: ${DEFAULT-VALUE}).")
  private String nodeCluster = "";

  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      description = "Also on TCP, for an Envoy elsewhere.")
  private @Nullable String listen;

  @Option(
      names = "--admin",
      defaultValue = "127.0.0.1:9901",
      paramLabel = "HOST:PORT",
      description = "Pages: decisions, workers, metrics, health (default: ${DEFAULT-VALUE}).")
  private String admin = "";

  @Mixin private LabelWebhookOption labels = new LabelWebhookOption();

  @Override
  public Integer call() throws Exception {
    Files.createDirectories(runDirectory);
    ExtProcOptions options =
        ExtProcOptions.defaults(runDirectory, nodeId, nodeCluster)
            .withControlPlane(
                controlPlane(
                    xds != null
                        ? xds
                        : "unix:" + runDirectory.resolve(BootstrapOptions.XDS_SOCKET)))
            .withAdminAddress(XdsServerCommand.tcp(admin))
            .withLabelWebhooks(labels.webhooks());
    if (listen != null) {
      options = options.withTcpAddress(XdsServerCommand.tcp(listen));
    }
    ExtProcServer server = start(options);
    Path socket = options.socket();
    Lifetime lifetime =
        Lifetime.of(() -> {
          server.close();
          Files.deleteIfExists(socket);
        });
    Terminal terminal = Terminal.standard();
    terminal.line("processor on unix:" + options.socket());
    if (server.tcpPort() >= 0) {
      terminal.line("processor on port " + server.tcpPort());
    }
    terminal.line(
        "decisions at http://127.0.0.1:" + server.adminAddress().getPort() + "/decisions");
    lifetime.await();
    lifetime.close();
    return 0;
  }

  private static ExtProcServer start(ExtProcOptions options) {
    try {
      return ExtProcServer.start(options);
    } catch (IOException e) {
      throw new CommandException(2, String.valueOf(e.getMessage()));
    }
  }

  private ExtProcOptions.ControlPlane controlPlane(String text) {
    try {
      Address address = Address.parse(text);
      xdsSecurity.check(address);
      return switch (address) {
        case Address.Pipe pipe -> new ExtProcOptions.ControlPlane.UnixSocket(pipe.path());
        case Address.Tcp tcp ->
            new ExtProcOptions.ControlPlane.Tcp(
                tcp.host(),
                tcp.port(),
                new ControlPlaneChannels.Security(
                    xdsSecurity.authorities(),
                    xdsSecurity.certificate(),
                    xdsSecurity.key(),
                    xdsSecurity.token(),
                    xdsSecurity.serverName()));
      };
    } catch (IllegalArgumentException e) {
      throw new CommandException(2, String.valueOf(e.getMessage()));
    }
  }
}
