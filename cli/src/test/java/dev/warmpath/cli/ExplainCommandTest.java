package dev.warmpath.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Which gateway {@code explain} asks where nobody has named one. */
final class ExplainCommandTest {
  private static final String KNOWN = "4w9c6qk2m0x7rj5t8ynhz3dfpa";
  private static final String UNKNOWN = "4w9c6qk2m0x7rj5t8ynhz3dfpb";
  private static final String DECISION = "{\"id\":\"" + KNOWN + "\"}";

  @TempDir private Path folder = Path.of("");

  private final List<HttpServer> servers = new ArrayList<>();
  private final List<ServerSocket> sockets = new ArrayList<>();
  private final List<Process> processes = new ArrayList<>();
  private String message = "";

  @AfterEach
  void stop() throws Exception {
    servers.forEach(server -> server.stop(0));
    for (ServerSocket socket : sockets) {
      socket.close();
    }
    for (Process process : processes) {
      process.destroy();
      process.waitFor();
    }
  }

  @Test
  void theGatewayThatWasStartedLastIsAsked() throws Exception {
    AtomicInteger older = new AtomicInteger();
    AtomicInteger newer = new AtomicInteger();
    announce(gateway(older), 1);
    announce(gateway(newer), 2);

    assertThat(explain("--last", "3")).isZero();
    assertThat(explain(KNOWN)).isZero();

    assertThat(newer).hasValue(2);
    assertThat(older).hasValue(0);
  }

  @Test
  void anOlderGatewayIsAskedWhereTheNewerIsGone() throws Exception {
    AtomicInteger older = new AtomicInteger();
    announce(gateway(older), 1);
    announce(nobody(), 2);
    announce(somebodyElse(), 3);
    Files.writeString(folder.resolve("no-number"), "http://127.0.0.1:1");
    announce("no address", 4);
    announce("", 5);

    assertThat(explain("--last", "3")).as(message).isZero();
    assertThat(explain(KNOWN)).as(message).isZero();

    assertThat(older).hasValue(2);
  }

  @Test
  void anOlderGatewayIsAskedForADecisionThatTheNewerDoesNotKnow() throws Exception {
    AtomicInteger older = new AtomicInteger();
    announce(gateway(older), 1);
    announce(gateway(null), 2);

    assertThat(explain(KNOWN)).as(message).isZero();

    assertThat(older).hasValue(1);
  }

  @Test
  void theFileOfAProcessThatHasEndedIsRemoved() throws Exception {
    Process ended = new ProcessBuilder("true").start();
    ended.waitFor();
    Path file = Files.writeString(folder.resolve("" + ended.pid()), "http://127.0.0.1:1");

    assertThat(new Instances(folder).running()).isEmpty();
    assertThat(file).doesNotExist();
    assertThat(new Instances(folder.resolve("absent")).running()).isEmpty();
  }

  @Test
  void everyAddressThatWasAskedIsNamed() throws Exception {
    String older = nobody();
    String newer = somebodyElse();
    announce(older, 1);
    announce(newer, 2);

    assertThat(explain("--last", "3")).isEqualTo(1);

    assertThat(message)
        .startsWith(
            "no gateway at "
                + newer
                + " (/decisions answered 404: are these a processor's admin pages?), nor at "
                + older
                + " (nobody listens), nor at http://127.0.0.1:9901 (");
  }

  @Test
  void aDecisionThatNoGatewayKnowsIsSaidToBeNotKnownAnyMore() throws Exception {
    String older = gateway(new AtomicInteger());
    String newer = gateway(null);
    announce(older, 1);
    announce(newer, 2);

    assertThat(explain(UNKNOWN)).isEqualTo(1);

    assertThat(message)
        .startsWith("that decision is not known any more at " + newer + ", nor at " + older + ": ");
  }

  @Test
  void theOneThatSomebodyNamedIsTheOnlyOneAsked() throws Exception {
    AtomicInteger announced = new AtomicInteger();
    announce(gateway(announced), 1);
    String named = nobody();

    assertThat(explain("--last", "3", "--admin", named)).isEqualTo(1);

    assertThat(message).startsWith("no gateway at " + named + " (nobody listens): ");
    assertThat(announced).hasValue(0);
  }

  private int explain(String... arguments) {
    return new CommandLine(new ExplainCommand(new Instances(folder)))
        .setExecutionExceptionHandler((failure, line, parsed) -> {
          message = String.valueOf(failure.getMessage());
          return 1;
        })
        .execute(arguments);
  }

  /** By a process of its own, since a file is named by its process. */
  private void announce(String pages, int secondsLater) throws IOException {
    Process process = new ProcessBuilder("sleep", "600").start();
    processes.add(process);
    Path file = Files.writeString(folder.resolve("" + process.pid()), pages);
    Files.setLastModifiedTime(file, FileTime.fromMillis(1_700_000_000_000L + secondsLater * 1000L));
  }

  /** Pages of a processor that knows one decision, or none where nobody counts. */
  private String gateway(@Nullable AtomicInteger asked) throws IOException {
    return serve(
        path -> {
          boolean known = path.equals("/decisions") || path.equals("/decisions/" + KNOWN);
          if (asked == null || !known) {
            return null;
          }
          asked.incrementAndGet();
          return path.equals("/decisions") ? "[" + DECISION + "]" : DECISION;
        },
        "application/json");
  }

  private String somebodyElse() throws IOException {
    return serve(path -> null, "text/html");
  }

  private interface Pages {
    @Nullable String page(String path);
  }

  private String serve(Pages pages, String type) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          String page = pages.page(exchange.getRequestURI().getPath());
          byte[] body = (page == null ? "{}" : page).getBytes(UTF_8);
          exchange.getResponseHeaders().set("content-type", type);
          exchange.sendResponseHeaders(page == null ? 404 : 200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    servers.add(server);
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort()).toString();
  }

  /** An address that is taken, so that no other test gets it, and at which nobody listens. */
  private String nobody() throws IOException {
    ServerSocket taken = new ServerSocket();
    taken.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    int port = taken.getLocalPort();
    taken.close();
    return "http://127.0.0.1:" + port;
  }
}
