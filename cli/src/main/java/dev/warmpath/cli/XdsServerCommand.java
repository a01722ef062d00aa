package dev.warmpath.cli;

import dev.warmpath.cli.input.CommandException;
import dev.warmpath.envoy.Address;
import dev.warmpath.envoy.BootstrapOptions;
import dev.warmpath.xds.XdsServer;
import dev.warmpath.xds.XdsServerOptions;
import dev.warmpath.xds.kubernetes.Replica;
import dev.warmpath.xds.rollout.RolloutTimes;
import dev.warmpath.xds.serve.ServerSecurity;
import java.io.IOException;
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
      "  warmpath xds-server --config examples/quickstart --listen 127.0.0.1:18000",
      "  warmpath xds-server --config /etc/warmpath --listen 0.0.0.0:18000 --tls-cert tls.crt"
          + " --tls-key tls.key --tls-client-ca ca.crt",
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
      names = "--tls-cert",
      paramLabel = "FILE",
      description =
          "TLS on --listen: PEM file with the certificate and its chain. This and the following files"
              + " may be replaced while it runs.")
  private @Nullable Path certificate;

  @Option(names = "--tls-key", paramLabel = "FILE", description = "PEM file with its private key.")
  private @Nullable Path key;

  @Option(
      names = "--tls-client-ca",
      paramLabel = "FILE",
      description = "Gateways must show a certificate of one of the authorities in this PEM file.")
  private @Nullable Path clientAuthorities;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "Gateways must show one of the tokens in this file, one a line.")
  private @Nullable Path tokens;

  @Option(
      names = "--insecure",
      description = "Allow --listen on an address that others can reach without TLS.")
  private boolean insecure;

  @Option(
      names = "--webhook-listen",
      paramLabel = "HOST:PORT",
      description =
          "Validating webhook for an API server, at https://HOST:PORT/validate; needs --webhook-cert"
              + " and --webhook-key.")
  private @Nullable String webhook;

  @Option(
      names = "--webhook-cert",
      paramLabel = "FILE",
      description = "PEM file with its certificate; followed like those of --listen.")
  private @Nullable Path webhookCertificate;

  @Option(
      names = "--webhook-key",
      paramLabel = "FILE",
      description = "PEM file with its private key.")
  private @Nullable Path webhookKey;

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
            security(),
            webhook(),
            tcp(admin),
            XdsServerOptions.defaultSystemBundle(),
            RolloutTimes.defaults());
    XdsServer server = start(options);
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
    if (server.webhookPort() >= 0) {
      terminal.line("webhook on port " + server.webhookPort());
    }
    if (socket != null) {
      terminal.line("control plane on unix:" + socket);
    }
    terminal.line("resources at http://127.0.0.1:" + server.adminPort() + "/resources");
    lifetime.await();
    lifetime.close();
    return 0;
  }

  private XdsServer start(XdsServerOptions options) {
    try {
      return kubernetes == null
          ? XdsServer.start(options)
          : XdsServer.startOnKubernetes(
              options, kubernetes, Replica.of(System.getenv(), kubernetes, lease));
    } catch (IOException e) {
      throw new CommandException(2, String.valueOf(e.getMessage()));
    }
  }

  private ServerSecurity security() {
    if (listen == null && (certificate != null || tokens != null)) {
      throw new CommandException(2, "certificates and tokens are for --listen HOST:PORT");
    }
    if (listen != null
        && certificate == null
        && !insecure
        && !XdsSecurityFlags.isLoopback(tcp(listen).getHostString())) {
      throw new CommandException(
          2,
          "--listen "
              + listen
              + " can be reached by others, and what is served names every key's hash and worker:"
              + " give --tls-cert, --tls-key and --tls-client-ca (or --token-file), or --insecure");
    }
    if (certificate != null && clientAuthorities == null && tokens == null && !insecure) {
      throw new CommandException(
          2,
          "TLS alone lets everybody connect: give --tls-client-ca or --token-file, or --insecure");
    }
    try {
      return new ServerSecurity(certificate, key, clientAuthorities, tokens);
    } catch (IllegalArgumentException e) {
      throw new CommandException(2, String.valueOf(e.getMessage()));
    }
  }

  private XdsServerOptions.@Nullable Webhook webhook() {
    if (webhook == null && webhookCertificate == null && webhookKey == null) {
      return null;
    }
    if (webhook == null || webhookCertificate == null || webhookKey == null) {
      throw new CommandException(
          2,
          "--webhook-listen, --webhook-cert and --webhook-key go together: an API server takes"
              + " a webhook by HTTPS only");
    }
    return new XdsServerOptions.Webhook(tcp(webhook), webhookCertificate, webhookKey);
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
