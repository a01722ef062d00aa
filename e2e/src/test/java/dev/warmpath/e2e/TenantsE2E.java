package dev.warmpath.e2e;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.e2e.support.ConfigFolder;
import dev.warmpath.e2e.support.Errors;
import dev.warmpath.e2e.support.Header;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.Scripts;
import dev.warmpath.e2e.support.Sdk;
import dev.warmpath.e2e.support.Stack;
import dev.warmpath.e2e.support.WireClient;
import dev.warmpath.e2e.support.WireResponse;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** With any tenant configured, a request needs a key, and the key says what exists. */
class TenantsE2E {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String RED_KEY = "sk-red-0123456789";
  private static final String GREEN_KEY = "sk-green-0123456789";
  private static final String GREY_KEY = "sk-grey-0123456789";
  private static final String BLUE_KEY = "sk-blue-0123456789";

  private static ScriptedWorker worker;
  private static Stack stack;
  private static InetSocketAddress gateway;

  @BeforeAll
  static void start(@TempDir Path folder) throws IOException {
    worker = ScriptedWorker.start("tiny", Scripts.vllm());
    stack =
        Stack.run(
            folder,
            new ConfigFolder(folder.resolve("config"))
                .workerSet("w", List.of(new ConfigFolder.Worker("w0", worker.port())))
                .pool("tiny", "tiny", "w")
                .poolBackend("tiny", "tiny", "tiny")
                .poolBackend("secret", "tiny", "secret-model")
                .write("secrets/red/key", RED_KEY + "\n")
                .write("secrets/blue/key", BLUE_KEY)
                .write("secrets/green/key", GREEN_KEY)
                .write("secrets/grey/key", GREY_KEY)
                .write("tenant-green.yaml", limited("green", "requestsPerMinute: 4"))
                .write("tenant-grey.yaml", limited("grey", "concurrentRequests: 1"))
                .tenant("red", "red", "key", "*")
                .tenant("blue", "blue", "key", "tiny"));
    gateway = stack.gateway();
  }

  private static String limited(String name, String limits) {
    return """
    apiVersion: inference.warmpath.dev/v1alpha1
    kind: InferenceTenant
    metadata: {name: NAME}
    spec:
      apiKeys: [{secret: {name: NAME, key: key}}]
      limits: {LIMITS}
    """
        .replace("NAME", name)
        .replace("LIMITS", limits);
  }

  @AfterAll
  static void stop() throws IOException {
    stack.close();
    worker.close();
  }

  @AfterEach
  void forget() {
    worker.forget();
  }

  private static WireResponse call(String path, String model, Header... headers)
      throws IOException {
    String body =
        "{\"model\":\"%s\",\"max_tokens\":4,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}"
            .formatted(model);
    return WireClient.post(gateway, path, body.getBytes(UTF_8), List.of(headers));
  }

  private static Header bearer(String key) {
    return new Header("authorization", "Bearer " + key);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/chat/completions", "/v1/messages"})
  void without_a_valid_key_it_is_401_in_the_dialect(String path) throws IOException {
    for (List<Header> headers :
        List.of(
            List.<Header>of(),
            List.of(bearer("sk-wrong")),
            List.of(bearer("")),
            List.of(bearer(RED_KEY + "x")),
            List.of(new Header("authorization", "Basic c2stcmVk")),
            List.of(new Header("x-api-key", "sk-wrong")))) {
      WireResponse response = call(path, "tiny", headers.toArray(Header[]::new));

      assertThat(response.status()).as("%s: %s", headers, response).isEqualTo(401);
      Errors.assertShape(Errors.Shape.of(path), response);
      assertThat(response.text()).doesNotContain("sk-");
    }
    assertThat(worker.received()).isEmpty();
  }

  @Test
  void a_valid_key_is_taken_from_either_header() throws IOException {
    for (String path : List.of("/v1/chat/completions", "/v1/messages")) {
      assertThat(call(path, "tiny", bearer(RED_KEY)).status()).isEqualTo(200);
      assertThat(call(path, "tiny", new Header("x-api-key", BLUE_KEY)).status()).isEqualTo(200);
    }
    assertThat(worker.received().toString()).doesNotContain(RED_KEY, BLUE_KEY);
  }

  @Test
  void a_model_that_a_tenant_may_not_use_looks_like_one_that_is_not_there() throws IOException {
    WireResponse hidden = call("/v1/chat/completions", "secret-model", bearer(BLUE_KEY));
    WireResponse absent = call("/v1/chat/completions", "absent-model", bearer(BLUE_KEY));

    assertThat(hidden.status()).as(hidden.toString()).isEqualTo(404);
    assertThat(hidden.text().replace("secret-model", "MODEL"))
        .isEqualTo(absent.text().replace("absent-model", "MODEL"));
    assertThat(call("/v1/chat/completions", "secret-model", bearer(RED_KEY)).status())
        .isEqualTo(200);
  }

  @Test
  void the_model_list_is_the_tenants_own() throws IOException {
    WireResponse red = WireClient.get(gateway, "/v1/models", bearer(RED_KEY));
    WireResponse blue = WireClient.get(gateway, "/v1/models", bearer(BLUE_KEY));

    assertThat(red.text()).contains("secret-model", "\"tiny\"");
    assertThat(blue.text()).contains("\"tiny\"").doesNotContain("secret-model");
    assertThat(WireClient.get(gateway, "/v1/models").status()).isEqualTo(401);
  }

  @Test
  void a_key_is_rotated_while_it_runs() throws IOException {
    stack.config().write("secrets/blue/key", "sk-blue-rotated-0123456789");

    await("the new key is valid")
        .atMost(PATIENCE)
        .until(() ->
            call("/v1/chat/completions", "tiny", bearer("sk-blue-rotated-0123456789")).status()
                == 200);
    await("the old key is not")
        .atMost(PATIENCE)
        .until(() -> call("/v1/chat/completions", "tiny", bearer(BLUE_KEY)).status() == 401);
    stack.config().write("secrets/blue/key", BLUE_KEY);
    await("and back")
        .atMost(PATIENCE)
        .until(() -> call("/v1/chat/completions", "tiny", bearer(BLUE_KEY)).status() == 200);
  }

  @Test
  void what_is_above_the_rate_is_429_in_the_dialect() throws IOException {
    int served = 0;
    for (int i = 0; i < 12; i++) {
      for (String path : List.of("/v1/chat/completions", "/v1/messages")) {
        WireResponse response = call(path, "tiny", bearer(GREEN_KEY));
        if (response.status() == 200) {
          served++;
          continue;
        }
        assertThat(response.status()).as(response.toString()).isEqualTo(429);
        assertThat(response.header("retry-after")).matches("[1-9][0-9]?");
        assertThat(Errors.assertShape(Errors.Shape.of(path), response).path("type").asString(""))
            .isEqualTo("rate_limit_error");
        assertThat(response.text()).contains("'green' has used its 4 requests a minute");
      }
    }
    // A slow run may see one come back every fifteen seconds.
    assertThat(served).isBetween(4, 12);
    assertThat(call("/v1/chat/completions", "tiny", bearer(RED_KEY)).status()).isEqualTo(200);
  }

  @Test
  void a_place_comes_back_when_a_request_ends_or_is_refused() throws IOException {
    for (int i = 0; i < 5; i++) {
      await("a place")
          .atMost(PATIENCE)
          .until(() -> call("/v1/chat/completions", "tiny", bearer(GREY_KEY)).status() == 200);
      assertThat(call("/v1/chat/completions", "absent-model", bearer(GREY_KEY)).status())
          .isIn(404, 429);
    }
  }

  @Test
  void sdks_raise_their_authentication_error() throws Exception {
    String origin = "http://127.0.0.1:" + gateway.getPort();

    JsonNode openai =
        Sdk.OPENAI_CURRENT.run(origin + "/v1", "sk-wrong", "tiny", "chat").path("chat");
    JsonNode anthropic = Sdk.ANTHROPIC.run(origin, "sk-wrong", "tiny", "messages").path("messages");

    assertThat(openai.path("exception").asString(""))
        .as(openai.toString())
        .isEqualTo("AuthenticationError");
    assertThat(openai.path("code").asString("")).isEqualTo("invalid_api_key");
    assertThat(anthropic.path("exception").asString(""))
        .as(anthropic.toString())
        .isEqualTo("AuthenticationError");
  }

  @Test
  void no_key_stands_in_a_log() {
    assertThat(stack.log()).doesNotContain(RED_KEY, BLUE_KEY, "sk-blue-rotated");
  }
}
