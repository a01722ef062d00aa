package dev.warmpath.cli;

import dev.warmpath.envoy.Address;
import dev.warmpath.envoy.BootstrapOptions;
import dev.warmpath.xds.XdsServer;
import dev.warmpath.xds.XdsServerOptions;
import dev.warmpath.xds.kubernetes.Replica;
import dev.warmpath.xds.rollout.RolloutTimes;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "xds-server",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Runs the control plane alone: serves the resources of a folder, or of a Kubernetes"
            + " namespace, to Envoys and processors.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  warmpath xds-server --config examples/quickstart --listen 0.0.0.0:18000",
      "  warmpath xds-server --config /etc/warmpath --run-dir /run/warmpath"
    })
final class XdsServerCommand implements Callable<Integer> {
  @Option(
      names = "--config",
      paramLabel = "DIR",
      description = "Folder with resources; secrets in DIR/secrets/NAME/KEY.")
  private @Nullable Path config;

  @Option(
      names = "--kubernetes",
      paramLabel = "NAMESPACE",
      description = "Instead of a folder: the custom resources of that namespace.")
  private @Nullable String kubernetes;

  @Option(
      names = "--lease",
      defaultValue = Replica.DEFAULT_LEASE,
      paramLabel = "NAME",
      description =
          "With --kubernetes: the Lease whose holder writes status, in the Pod's own namespace"
              + " (POD_NAMESPACE); the same for all replicas (default: ${DEFAULT-VALUE}).")
  private String lease = "";

  @Option(
      names = "--run-dir",
      paramLabel = "DIR",
      description = "Listen on the Unix socket xds.sock in this folder.")
  private @Nullable Path runDirectory;

  @Option(names = "--listen", paramLabel = "HOST:PORT", description = "TCP address to listen on.")
  private @Nullable String listen;

  @Option(
      names = "--admin",
      defaultValue = "127.0.0.1:0",
      paramLabel = "HOST:PORT",
      description = "Pages: resources, metrics, health (default: ${DEFAULT-VALUE}).")
  private String admin = "";

  @Override
  public Integer call() throws Exception {
    if ((config == null) == (kubernetes == null)) {
      throw new CommandException(
          2, "where are the resources? --config DIR or --kubernetes NAMESPACE");
    }
    if (config != null && !Files.isDirectory(config)) {
      throw new CommandException(2, "no such folder: " + config);
    }
    if (runDirectory == null && listen == null) {
      throw new CommandException(2, "where to listen? --run-dir DIR, --listen HOST:PORT or both");
    }
    Path socket = null;
    if (runDirectory != null) {
      socket = Files.createDirectories(runDirectory).resolve(BootstrapOptions.XDS_SOCKET);
    }
    XdsServerOptions options =
        new XdsServerOptions(
            config,
            socket,
            listen == null ? null : tcp(listen),
            tcp(admin),
            XdsServerOptions.defaultSystemBundle(),
            RolloutTimes.defaults());
    XdsServer server =
        kubernetes == null
            ? XdsServer.start(options)
            : XdsServer.startOnKubernetes(
                options, kubernetes, Replica.of(System.getenv(), kubernetes, lease));
    Path socketFile = socket;
    Lifetime lifetime =
        Lifetime.of(() -> {
          server.close();
          if (socketFile != null) {
            Files.deleteIfExists(socketFile);
          }
        });
    Terminal terminal = Terminal.standard();
    if (server.port() >= 0) {
      terminal.line("control plane on port " + server.port());
    }
    if (socket != null) {
      terminal.line("control plane on unix:" + socket);
    }
    terminal.line("resources at http://127.0.0.1:" + server.adminPort() + "/resources");
    lifetime.await();
    lifetime.close();
    return 0;
  }

  static InetSocketAddress tcp(String text) {
    try {
      if (Address.parse(text) instanceof Address.Tcp tcp) {
        return new InetSocketAddress(tcp.host(), tcp.port());
      }
    } catch (IllegalArgumentException e) {
      throw new CommandException(2, String.valueOf(e.getMessage()));
    }
    throw new CommandException(2, "a host and port is needed here, not " + text);
  }
}
