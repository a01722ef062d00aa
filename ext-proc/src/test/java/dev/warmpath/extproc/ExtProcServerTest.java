package dev.warmpath.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.crds.config.RoutingConfiguration;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole processor, as far as it runs without Envoy. */
class ExtProcServerTest {
  @TempDir Path folder;

  private final HttpClient http = HttpClient.newHttpClient();
  private ExtProcServer server;

  @BeforeEach
  void start() throws IOException {
    server =
        ExtProcServer.start(
            ExtProcOptions.defaults(folder, "node", "warmpath").withBodyLimits(1 << 20, 1 << 22));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void readyOnceConfiguredAndWarm() throws Exception {
    HttpResponse<String> before = get("/readyz");

    server.apply(RoutingConfiguration.empty(), "1");
    await().atMost(Duration.ofSeconds(60)).until(server::ready);

    assertThat(before.statusCode()).isEqualTo(503);
    assertThat(before.body()).contains("routing configuration");
    assertThat(get("/readyz").statusCode()).isEqualTo(200);
    assertThat(get("/healthz").statusCode()).isEqualTo(200);
    // Nothing of the warm-up shows.
    assertThat(get("/decisions").body()).isEqualTo("[]");
    assertThat(get("/metrics").body())
        .contains("warmpath_leases 0.0", "warmpath_ready 1.0")
        .doesNotContain("warm-up");
    assertThat(folder.resolve("warm-up.sock")).doesNotExist();
  }

  @Test
  void pagesThatDoNotExistAreSaidSo() throws Exception {
    assertThat(get("/decisions/0123456789").statusCode()).isEqualTo(404);
    assertThat(get("/metricsx").statusCode()).isEqualTo(404);
    assertThat(get("/").statusCode()).isEqualTo(404);
    assertThat(get("/workers").body()).isEqualTo("[]");
    HttpResponse<Void> posted =
        http.send(
            request("/metrics").POST(HttpRequest.BodyPublishers.noBody()).build(),
            HttpResponse.BodyHandlers.discarding());
    assertThat(posted.statusCode()).isEqualTo(405);
    assertThat(posted.headers().firstValue("allow")).hasValue("GET, HEAD");
  }

  @Test
  void socketIsPrivateAndGoesAwayWithTheServer() throws Exception {
    Path socket = folder.resolve("ext-proc.sock");

    assertThat(Files.getPosixFilePermissions(socket)).hasSize(2);
    server.close();
    assertThat(socket).doesNotExist();
  }

  private HttpResponse<String> get(String path) throws Exception {
    return http.send(request(path).GET().build(), HttpResponse.BodyHandlers.ofString());
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(
        URI.create("http://127.0.0.1:" + server.adminAddress().getPort() + path));
  }
}
