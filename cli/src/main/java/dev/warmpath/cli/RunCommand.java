package dev.warmpath.cli;

import dev.warmpath.cli.input.CommandException;
import dev.warmpath.crds.resource.Problem;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "run",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Runs the gateway: control plane, processor and Envoy, from a folder of resources.",
      "The folder is watched: a saved file is in force within a second. Ctrl-C stops everything."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  warmpath run --config examples/quickstart",
      "  warmpath run --config /etc/warmpath --host 0.0.0.0 --port 80 --grace 30s"
    })
final class RunCommand implements Callable<Integer> {
  // Set by picocli.
  @SuppressWarnings("NullAway.Init")
  @Option(
      names = "--config",
      required = true,
      paramLabel = "DIR",
      description = "Folder with resources; secrets in DIR/secrets/NAME/KEY.")
  private Path config;

  @Option(
      names = "--host",
      defaultValue = "127.0.0.1",
      description = "Address to listen on (default: ${DEFAULT-VALUE}, this machine only).")
  private String host = "127.0.0.1";

  @Option(
      names = "--port",
      defaultValue = "8080",
      description = "Port to listen on; 0 takes any (default: ${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      description = "The same as --host and --port in one.")
  private @Nullable String listen;

  @Option(
      names = "--admin",
      defaultValue = "127.0.0.1:9901",
      paramLabel = "HOST:PORT",
      description =
          "Pages: decisions, workers, metrics; another port is taken if it is in use (default:"
              + " ${DEFAULT-VALUE}).")
  private String admin = "";

  @Option(
      names = "--run-dir",
      paramLabel = "DIR",
      description = "For sockets, logs and the last good configuration (default: a temporary one).")
  private @Nullable Path runDirectory;

  @Option(
      names = "--concurrency",
      defaultValue = "0",
      paramLabel = "N",
      description = "Envoy's worker threads (default: one a core).")
  private int concurrency;

  @Option(
      names = "--envoy-log",
      defaultValue = "warning",
      paramLabel = "LEVEL",
      description = "Envoy's log level (default: ${DEFAULT-VALUE}).")
  private String envoyLog = "warning";

  @Option(
      names = "--grace",
      defaultValue = "5s",
      description =
          "How long running requests may take to end after Ctrl-C (default: ${DEFAULT-VALUE}).",
      converter = DurationConverter.class)
  private Duration grace = Duration.ofSeconds(5);

  @Option(
      names = TrustedIdentityOption.NAME,
      paramLabel = "HEADER",
      description = TrustedIdentityOption.DESCRIPTION)
  private @Nullable String trustedIdentity;

  @Mixin private LabelWebhookOption labels = new LabelWebhookOption();

  @Override
  public Integer call() throws Exception {
    Terminal terminal = Terminal.standard();
    if (listen != null) {
      InetSocketAddress address = XdsServerCommand.tcp(listen);
      host = address.getHostString();
      port = address.getPort();
    }
    checkConfiguration(terminal);
    Standalone gateway =
        Standalone.start(
            new Standalone.Options(
                config,
                host,
                port,
                XdsServerCommand.tcp(admin),
                runDirectory,
                concurrency,
                envoyLog,
                labels.webhooks(),
                TrustedIdentityOption.checked(trustedIdentity)),
            terminal);
    gateway.grace(grace);
    AutoCloseable announcement = Instances.ofUser().announce(gateway.adminPages());
    AtomicBoolean envoyDied = new AtomicBoolean();
    Lifetime lifetime =
        Lifetime.of(() -> {
          terminal.line("\nstopping ...");
          announcement.close();
          gateway.close();
          terminal.line("stopped");
        });
    greet(gateway, terminal);
    var _ =
        gateway
            .envoyExit()
            .thenAccept(code -> {
              envoyDied.set(true);
              lifetime.end();
            });
    lifetime.await();
    boolean died = envoyDied.get();
    if (died) {
      System.err.println("warmpath: Envoy ended; its log was " + lastOf(gateway.envoy().logFile()));
    }
    lifetime.close();
    return died ? 1 : 0;
  }

  private void checkConfiguration(Terminal terminal) throws Exception {
    if (!Files.isDirectory(config)) {
      throw new CommandException(2, "no such folder: " + config);
    }
    ValidateCommand.Report report = ValidateCommand.check(List.of(config));
    for (Problem problem : report.problems()) {
      terminal.line(
          problem.isError()
              ? terminal.red(problem.toString())
              : terminal.yellow(problem.toString()));
    }
    if (!report.unreadable().isEmpty()) {
      throw new CommandException(2, String.join("; ", report.unreadable()));
    }
    if (report.resources().backends().isEmpty()) {
      throw new CommandException(
          2,
          "nothing to serve: no valid GatewayBackend in " + config + " (see examples/quickstart)");
    }
  }

  private void greet(Standalone gateway, Terminal terminal) throws Exception {
    URI endpoint = gateway.endpoint(host);
    terminal.line("");
    terminal.line(terminal.bold("Warmpath serves " + endpoint + "/v1"));
    terminal.line("  models     curl " + endpoint + "/v1/models");
    terminal.line(
        "  decisions  " + gateway.adminPages() + "/decisions   or: warmpath explain --last 20");
    terminal.line("  workers    " + gateway.adminPages() + "/workers");
    terminal.line("  metrics    " + gateway.adminPages() + "/metrics");
    terminal.line("  resources  " + gateway.controlPages() + "/resources");
    terminal.line("  envoy log  " + gateway.envoy().logFile());
    boolean open =
        gateway.xds().resources().stream()
            .noneMatch(r -> r.key().kind() == dev.warmpath.crds.resource.Kind.TENANT);
    if (open) {
      terminal.line(
          terminal.yellow(
              "  no InferenceTenant: anyone who can reach " + host + " may use this gateway"));
    }
    terminal.line("Ctrl-C stops it.");
  }

  private static String lastOf(Path log) {
    try {
      List<String> lines = Files.readAllLines(log);
      return String.join("\n", lines.subList(Math.max(0, lines.size() - 10), lines.size()));
    } catch (java.io.IOException e) {
      return "unreadable: " + e.getMessage();
    }
  }
}
