package dev.warmpath.cli;

import dev.warmpath.cli.input.CommandException;
import dev.warmpath.cli.input.InputFiles;
import dev.warmpath.envoy.Address;
import dev.warmpath.envoy.BootstrapOptions;
import dev.warmpath.envoy.BootstrapRenderer;
import dev.warmpath.envoy.EnvoyAdmin;
import dev.warmpath.envoy.EnvoyBinary;
import dev.warmpath.envoy.EnvoyDrain;
import dev.warmpath.envoy.EnvoyProcess;
import dev.warmpath.envoy.XdsSecurity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "envoy",
    mixinStandardHelpOptions = true,
    description = "Envoy's bootstrap: check it, print it, run it, drain it.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  warmpath envoy validate",
      "  warmpath envoy render --run-dir /run/warmpath --listen 0.0.0.0:8080 > envoy.yaml",
      "  warmpath envoy run --run-dir /run/warmpath",
      "  warmpath envoy drain --run-dir /run/warmpath --limit 120s"
    })
final class EnvoyCommand implements Runnable {
  // Set by picocli.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Override
  public void run() {
    CommandLine line = spec.commandLine();
    line.usage(line.getOut());
  }

  /** What differs between gateways. */
  static final class Settings {
    @Option(
        names = "--run-dir",
        defaultValue = "/run/warmpath",
        paramLabel = "DIR",
        description = "Folder of the sockets (default: ${DEFAULT-VALUE}).")
    private Path runDirectory = Path.of("/run/warmpath");

    @Option(
        names = "--listen",
        defaultValue = "127.0.0.1:8080",
        paramLabel = "HOST:PORT",
        description = "Where clients connect (default: ${DEFAULT-VALUE}).")
    private String listen = "";

    @Option(
        names = "--admin",
        paramLabel = "ADDRESS",
        description =
            "Envoy's admin interface: HOST:PORT or unix:FILE (default: a socket in the run directory).")
    private @Nullable String admin;

    @Option(
        names = "--processor",
        paramLabel = "ADDRESS",
        description = "The processor (default: a socket in the run directory).")
    private @Nullable String processor;

    @Option(
        names = "--xds",
        paramLabel = "ADDRESS",
        description = "The control plane (default: a socket in the run directory).")
    private @Nullable String xds;

    @Mixin private XdsSecurityFlags xdsSecurity = new XdsSecurityFlags();

    @Option(
        names = "--sds-dir",
        paramLabel = "DIR",
        description =
            "Where Envoy finds the files that name those certificates (default: the run"
                + " directory).")
    private @Nullable Path sdsDirectory;

    @Option(
        names = "--node-id",
        defaultValue = "gateway-1",
        description = "Unique for this Envoy (default: ${DEFAULT-VALUE}).")
    private String nodeId = "";

    @Option(
        names = "--node-cluster",
        defaultValue = BootstrapOptions.DEFAULT_CLUSTER,
        description = "Gateway that this is a replica of (default: ${DEFAULT-VALUE}).")
    private String nodeCluster = "";

    @Option(
        names = "--body-limit",
        defaultValue = "67108864",
        paramLabel = "BYTES",
        description = "Largest request body, at least 1 MiB (default: ${DEFAULT-VALUE}).")
    private long bodyLimitBytes;

    @Option(
        names = "--decide-timeout",
        defaultValue = "15s",
        converter = DurationConverter.class,
        description =
            "How long Envoy waits for an answer of the processor (default: ${DEFAULT-VALUE}).")
    private Duration decideTimeout = BootstrapOptions.DEFAULT_DECIDE_TIMEOUT;

    @Option(
        names = "--trusted-hops",
        defaultValue = "0",
        paramLabel = "N",
        description = "Proxies in front whose X-Forwarded-For counts (default: ${DEFAULT-VALUE}).")
    private int trustedHops;

    @Option(
        names = "--max-connections",
        defaultValue = "50000",
        paramLabel = "N",
        description = "Client connections in all (default: ${DEFAULT-VALUE}).")
    private int maxConnections;

    @Option(
        names = TrustedIdentityOption.NAME,
        paramLabel = "HEADER",
        description = TrustedIdentityOption.DESCRIPTION)
    private @Nullable String trustedIdentity;

    @Option(
        names = "--stats",
        paramLabel = "HOST:PORT",
        description =
            "Also answer GET /stats/prometheus here, and nothing else of the admin interface.")
    private @Nullable String stats;

    BootstrapOptions options() {
      try {
        BootstrapOptions local =
            BootstrapOptions.local(nodeId, Address.parse(listen), runDirectory);
        Address control = xds == null ? local.xds() : Address.parse(xds);
        xdsSecurity.check(control);
        return new BootstrapOptions(
            nodeId,
            nodeCluster,
            local.listen(),
            admin == null ? local.admin() : Address.parse(admin),
            processor == null ? local.processor() : Address.parse(processor),
            control,
            new XdsSecurity(
                xdsSecurity.authorities(),
                xdsSecurity.certificate(),
                xdsSecurity.key(),
                xdsSecurity.token(),
                xdsSecurity.serverName(),
                sdsDirectory == null ? runDirectory : sdsDirectory),
            bodyLimitBytes,
            decideTimeout,
            trustedHops,
            maxConnections,
            stats == null ? null : Address.parse(stats),
            TrustedIdentityOption.checked(trustedIdentity));
      } catch (IllegalArgumentException e) {
        throw new CommandException(2, String.valueOf(e.getMessage()));
      }
    }

    Path runDirectory() {
      return runDirectory;
    }
  }

  private static EnvoyBinary binary() {
    try {
      return EnvoyBinary.find();
    } catch (EnvoyBinary.MissingException e) {
      throw new CommandException(3, String.valueOf(e.getMessage()));
    }
  }

  @Command(
      name = "validate",
      mixinStandardHelpOptions = true,
      description = "Lets Envoy itself check the bootstrap (or FILE).")
  int validate(
      @Mixin Settings settings,
      @Parameters(
              arity = "0..1",
              paramLabel = "FILE",
              description = "A bootstrap to check instead.")
          @Nullable Path file)
      throws Exception {
    String text =
        file == null ? BootstrapRenderer.render(settings.options()) : InputFiles.text(file);
    EnvoyBinary envoy = binary();
    EnvoyBinary.Validation validation = envoy.validate(text);
    Terminal terminal = Terminal.standard();
    if (!validation.output().isEmpty() && !validation.valid()) {
      terminal.line(validation.output());
    }
    terminal.line(
        validation.valid()
            ? terminal.green("Envoy " + envoy.version() + " accepts the bootstrap")
            : terminal.red("Envoy " + envoy.version() + " refuses the bootstrap"));
    return validation.valid() ? 0 : 1;
  }

  @Command(name = "render", mixinStandardHelpOptions = true, description = "Prints the bootstrap.")
  int render(
      @Mixin Settings settings,
      @Option(
              names = {"-o", "--output"},
              paramLabel = "FILE",
              description =
                  "Write it there instead, and beside it the files that it refers to (with --xds-ca,"
                      + " --xds-cert or --xds-token-file).")
          @Nullable Path output)
      throws IOException {
    BootstrapOptions options = settings.options();
    String text = BootstrapRenderer.render(options);
    if (output != null) {
      Files.writeString(output, text);
      for (var file : options.xdsSecurity().sdsFiles().entrySet()) {
        Files.writeString(output.resolveSibling(file.getKey()), file.getValue());
      }
      return 0;
    }
    spec.commandLine().getOut().print(text);
    spec.commandLine().getOut().flush();
    return 0;
  }

  @Command(
      name = "drain",
      mixinStandardHelpOptions = true,
      description =
          "Takes a running Envoy out of service without losing a request: /health answers 503,"
              + " then its listeners close, then requests in flight end. Envoy itself runs on."
              + " Exit code 1 where the limit ended some of them.")
  int drain(
      @Option(
              names = "--run-dir",
              defaultValue = "/run/warmpath",
              paramLabel = "DIR",
              description = "Folder of the sockets (default: ${DEFAULT-VALUE}).")
          Path runDirectory,
      @Option(
              names = "--admin",
              paramLabel = "ADDRESS",
              description =
                  "Envoy's admin interface: HOST:PORT or unix:FILE (default: a socket in the run"
                      + " directory).")
          @Nullable String admin,
      @Option(
              names = "--settle",
              defaultValue = "5s",
              converter = DurationConverter.class,
              description =
                  "How long load balancers may need to hear of it (default: ${DEFAULT-VALUE}).")
          Duration settle,
      @Option(
              names = "--limit",
              defaultValue = "120s",
              converter = DurationConverter.class,
              description =
                  "How long requests in flight may take after that (default: ${DEFAULT-VALUE}).")
          Duration limit,
      @Option(
              names = "--done",
              paramLabel = "FILE",
              description = "Create this file at the end, however the drain ended.")
          @Nullable Path done)
      throws Exception {
    try {
      Address address =
          admin == null
              ? new Address.Pipe(runDirectory.resolve(BootstrapOptions.ADMIN_SOCKET))
              : Address.parse(admin);
      long left = new EnvoyDrain(new EnvoyAdmin(address)).run(settle, limit);
      Terminal.standard()
          .line(left == 0 ? "drained" : left + " requests were still running after the limit");
      return left == 0 ? 0 : 1;
    } catch (IllegalArgumentException e) {
      throw new CommandException(2, String.valueOf(e.getMessage()));
    } finally {
      if (done != null) {
        Files.writeString(done, "");
      }
    }
  }

  @Command(
      name = "run",
      mixinStandardHelpOptions = true,
      description = "Runs Envoy on the bootstrap until Ctrl-C.")
  int run(
      @Mixin Settings settings,
      @Option(
              names = "--concurrency",
              defaultValue = "0",
              paramLabel = "N",
              description = "Worker threads (default: one a core).")
          int concurrency,
      @Option(
              names = "--grace",
              defaultValue = "5s",
              converter = DurationConverter.class,
              description =
                  "How long running requests may take to end (default: ${DEFAULT-VALUE}).")
          Duration grace,
      @Option(
              names = "--log-level",
              defaultValue = "warning",
              description = "Envoy's log level (default: ${DEFAULT-VALUE}).")
          String logLevel)
      throws Exception {
    Terminal terminal = Terminal.standard();
    int cores = Runtime.getRuntime().availableProcessors();
    EnvoyProcess process =
        Standalone.startEnvoy(
            new EnvoyProcess.Options(
                binary(),
                settings.options(),
                settings.runDirectory(),
                concurrency > 0 ? concurrency : cores,
                logLevel));
    Lifetime lifetime = Lifetime.of(() -> process.stop(grace));
    terminal.line(
        "envoy " + process.pid() + " on port " + process.port() + ", log " + process.logFile());
    var _ = process.onExit().thenAccept(code -> lifetime.end());
    lifetime.await();
    boolean died = !process.isAlive();
    lifetime.close();
    return died ? 1 : 0;
  }
}
