package dev.warmpath.e2e;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.warmpath.e2e.support.ConfigFolder;
import dev.warmpath.e2e.support.Errors;
import dev.warmpath.e2e.support.Header;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.Scripts;
import dev.warmpath.e2e.support.Stack;
import dev.warmpath.e2e.support.WireClient;
import dev.warmpath.e2e.support.WireHead;
import dev.warmpath.e2e.support.WireResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever a client sends, it gets the right 4xx in its dialect, and the next request is served.
 * The worker refuses everything but the good request, so that what the gateway leaves to the
 * engine's judgement is refused there, in the engine's words.
 */
class BadInputE2E {

  private static final String CHAT = "/v1/chat/completions";
  private static final String MESSAGES = "/v1/messages";
  private static final List<String> BOTH = List.of(CHAT, MESSAGES);
  private static final String REFUSED_BY_WORKER = "refused by the worker";
  private static final String GOOD =
      "{\"model\":\"tiny\",\"max_tokens\":4,\"messages\":[{\"role\":\"user\",\"content\":\"good-request\"}]}";

  private static ScriptedWorker worker;
  private static Stack stack;
  private static InetSocketAddress gateway;

  @BeforeAll
  static void start(@TempDir Path folder) throws IOException {
    worker =
        ScriptedWorker.start(
            "tiny",
            (request, reply) -> {
              if (request.text().contains("good-request")) {
                Scripts.vllm().answer(request, reply);
              } else {
                reply.json(
                    400,
                    "{\"error\":{\"message\":\""
                        + REFUSED_BY_WORKER
                        + "\",\"type\":\"BadRequestError\",\"param\":null,\"code\":400}}");
              }
            });
    stack =
        Stack.run(
            folder,
            new ConfigFolder(folder.resolve("config"))
                .workerSet("w", List.of(new ConfigFolder.Worker("w0", worker.port())))
                .pool("tiny", "tiny", "w")
                .poolBackend("tiny", "tiny", "tiny"));
    gateway = stack.gateway();
  }

  @AfterAll
  static void stop() throws IOException {
    stack.close();
    worker.close();
  }

  @AfterEach
  void the_next_request_works() throws IOException {
    worker.forget();
    WireResponse next = WireClient.post(gateway, CHAT, GOOD);
    assertThat(next.status()).as(next.toString()).isEqualTo(200);
    worker.forget();
  }

  /** What the gateway itself must refuse: name, path, body, status. */
  static Stream<Arguments> refusedByTheGateway() {
    return BOTH.stream()
        .flatMap(path ->
            Stream.of(
                arguments("empty body", path, bytes(""), 400),
                arguments("white space", path, bytes(" \n\t"), 400),
                arguments("a word", path, bytes("hello"), 400),
                arguments("an open brace", path, bytes("{"), 400),
                arguments("a cut object", path, bytes("{\"model\":\"tiny\",\"messages\":["), 400),
                arguments("a cut string", path, bytes("{\"model\":\"ti"), 400),
                arguments("a cut escape", path, bytes("{\"model\":\"tiny\\"), 400),
                arguments("a cut unicode escape", path, bytes("{\"model\":\"tiny\\u00"), 400),
                arguments("a wrong escape", path, chat("\"\\x41\""), 400),
                arguments(
                    "a comment", path, bytes("{/* */\"model\":\"tiny\",\"messages\":[]}"), 400),
                arguments("single quotes", path, bytes("{'model':'tiny','messages':[]}"), 400),
                arguments("a raw control character", path, chat("\"a\u0001b\""), 400),
                arguments("text after the end", path, bytes(GOOD + "x"), 400),
                arguments("two objects", path, bytes(GOOD + GOOD), 400),
                arguments("an array", path, bytes("[]"), 400),
                arguments("a string", path, bytes("\"model\""), 400),
                arguments("null", path, bytes("null"), 400),
                arguments("a number", path, bytes("12"), 400),
                arguments("no model", path, bytes("{\"messages\":[]}"), 400),
                arguments("model null", path, bytes("{\"model\":null,\"messages\":[]}"), 400),
                arguments("model a number", path, bytes("{\"model\":7,\"messages\":[]}"), 400),
                arguments("model an object", path, bytes("{\"model\":{},\"messages\":[]}"), 400),
                arguments(
                    "model a list", path, bytes("{\"model\":[\"tiny\"],\"messages\":[]}"), 400),
                arguments("unknown model", path, bytes(GOOD.replace("tiny", "nope")), 404),
                arguments("model in another case", path, bytes(GOOD.replace("tiny", "TINY")), 404),
                arguments("model with a space", path, bytes(GOOD.replace("tiny", "tiny ")), 404),
                arguments("10,000 open arrays", path, bytes("[".repeat(10_000)), 400),
                arguments(
                    "10,000 nested arrays",
                    path,
                    chat("[".repeat(10_000) + "]".repeat(10_000)),
                    400),
                arguments(
                    "10,000 nested objects",
                    path,
                    bytes(
                        "{\"model\":\"tiny\",\"x\":"
                            + "{\"a\":".repeat(10_000)
                            + "1"
                            + "}".repeat(10_001)),
                    400),
                arguments("invalid UTF-8", path, invalidUtf8(), 400),
                arguments(
                    "two models",
                    path,
                    bytes(GOOD.replace("{\"model\"", "{\"model\":\"nope\",\"model\"")),
                    400),
                arguments(
                    "two models, one escaped",
                    path,
                    bytes(GOOD.replace("{\"model\"", "{\"m\\u006fdel\":\"nope\",\"model\"")),
                    400)));
  }

  @ParameterizedTest(name = "{0} to {1}")
  @MethodSource("refusedByTheGateway")
  void the_gateway_refuses(String name, String path, byte[] body, int status) throws IOException {
    WireResponse response = WireClient.post(gateway, path, body, List.of());

    assertThat(response.status()).as("%s: %s", name, response).isEqualTo(status);
    Errors.assertShape(Errors.Shape.of(path), response);
    assertThat(worker.received()).as("what reached the worker").isEmpty();
  }

  /** What either of the two may refuse: name, path, body. */
  static Stream<Arguments> refusedBySomeone() {
    return BOTH.stream()
        .flatMap(path ->
            Stream.of(
                arguments("no messages", path, bytes("{\"model\":\"tiny\"}")),
                arguments("messages null", path, bytes("{\"model\":\"tiny\",\"messages\":null}")),
                arguments(
                    "messages a string", path, bytes("{\"model\":\"tiny\",\"messages\":\"hi\"}")),
                arguments(
                    "messages an object", path, bytes("{\"model\":\"tiny\",\"messages\":{}}")),
                arguments("messages empty", path, bytes("{\"model\":\"tiny\",\"messages\":[]}")),
                arguments(
                    "messages of numbers", path, bytes("{\"model\":\"tiny\",\"messages\":[1,2]}")),
                arguments(
                    "messages nested", path, bytes("{\"model\":\"tiny\",\"messages\":[[[]]]}")),
                arguments("content a number", path, chat("17")),
                arguments("content an object", path, chat("{\"type\":\"text\"}")),
                arguments("content of numbers", path, chat("[1,2,3]")),
                arguments("a part without type", path, chat("[{\"text\":\"x\"}]")),
                arguments("an unknown part", path, chat("[{\"type\":\"smell\",\"smell\":\"x\"}]")),
                arguments("an image without URL", path, chat("[{\"type\":\"image_url\"}]")),
                arguments(
                    "role a number",
                    path,
                    bytes("{\"model\":\"tiny\",\"messages\":[{\"role\":1,\"content\":\"x\"}]}")),
                arguments(
                    "no role",
                    path,
                    bytes("{\"model\":\"tiny\",\"messages\":[{\"content\":\"x\"}]}")),
                arguments("stream a string", path, with("\"stream\":\"yes\"")),
                arguments("stream null", path, with("\"stream\":null")),
                arguments(
                    "stream_options a number", path, with("\"stream\":true,\"stream_options\":3")),
                arguments(
                    "stream_options null", path, with("\"stream\":true,\"stream_options\":null")),
                arguments(
                    "stream_options empty", path, with("\"stream\":true,\"stream_options\":{}")),
                arguments("tools a string", path, with("\"tools\":\"hammer\"")),
                arguments("tools of nulls", path, with("\"tools\":[null,null]")),
                arguments("max_tokens a string", path, with("\"max_tokens\":\"many\"")),
                arguments("max_tokens negative", path, with("\"max_tokens\":-1")),
                arguments("max_tokens huge", path, with("\"max_tokens\":" + "9".repeat(400))),
                arguments("a number beyond double", path, with("\"temperature\":1e99999")),
                arguments(
                    "a number of 100,000 digits", path, with("\"seed\":" + "7".repeat(100_000))),
                arguments("a lone high surrogate", path, chat("\"\\ud800\"")),
                arguments("a lone low surrogate", path, chat("\"a\\udc00b\"")),
                arguments("surrogates in the wrong order", path, chat("\"\\udc00\\ud800\"")),
                arguments("an escaped zero", path, chat("\"\\u0000\"")),
                arguments("a string of 50 MB", path, chat("\"" + "x".repeat(50 << 20) + "\"")),
                arguments(
                    "100,000 messages",
                    path,
                    bytes(
                        "{\"model\":\"tiny\",\"messages\":["
                            + "{\"role\":\"user\",\"content\":\"x\"},".repeat(99_999)
                            + "{\"role\":\"user\",\"content\":\"x\"}]}")),
                arguments("100,000 keys", path, manyKeys()),
                arguments("an unknown key", path, with("\"x-wp-cluster\":\"pool/default/tiny\"")),
                arguments("a byte order mark", path, bytes("\ufeff" + chatText("\"x\"")))));
  }

  @ParameterizedTest(name = "{0} to {1}")
  @MethodSource("refusedBySomeone")
  void someone_refuses_and_nothing_breaks(String name, String path, byte[] body)
      throws IOException {
    WireResponse response = WireClient.post(gateway, path, body, List.of());

    assertThat(response.status()).as("%s: %s", name, response).isBetween(400, 499);
    if (!response.text().contains(REFUSED_BY_WORKER)) {
      Errors.assertShape(Errors.Shape.of(path), response);
    }
  }

  @ParameterizedTest(name = "content type {0}")
  @ValueSource(
      strings = {
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "nonsense",
        "application/json, text/plain"
      })
  void a_wrong_content_type_is_refused(String type) throws IOException {
    for (String path : BOTH) {
      WireResponse response =
          WireClient.post(
              gateway,
              path,
              GOOD.replace("good", "bad").getBytes(UTF_8),
              List.of(new Header("content-type", type)));

      assertThat(response.status()).as("%s %s", path, response).isEqualTo(415);
      assertThat(Errors.assertShape(Errors.Shape.of(path), response).path("message").asString())
          .contains(
              "content-type application/json",
              "not '" + type.replaceFirst("^application/json, |;.*", "") + "'");
    }
    assertThat(worker.received()).as("what reached the worker").isEmpty();
  }

  @Test
  void a_packed_body_is_told_to_come_unpacked() throws IOException {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
      out.write(bytes(GOOD));
    }
    for (String path : BOTH) {
      WireResponse response =
          WireClient.post(
              gateway, path, packed.toByteArray(), List.of(new Header("content-encoding", "gzip")));

      assertThat(response.status()).as("%s %s", path, response).isEqualTo(415);
      assertThat(response.header("accept-encoding")).isEqualTo("identity");
      assertThat(Errors.assertShape(Errors.Shape.of(path), response).path("message").asString())
          .contains("content-encoding 'gzip'", "uncompressed");
    }
    assertThat(worker.received()).as("what reached the worker").isEmpty();
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(
      strings = {
        "",
        "content-type: application/json; charset=utf-8",
        "content-type: Application/JSON",
        "content-type: text/json",
        "content-encoding: identity"
      })
  void json_under_any_name_is_served(String line) throws IOException {
    List<Header> headers = new ArrayList<>();
    headers.add(new Header("content-length", Integer.toString(GOOD.length())));
    if (!line.isEmpty()) {
      headers.add(new Header(line.split(": ", 2)[0], line.split(": ", 2)[1]));
    }
    try (WireClient client = WireClient.connect(gateway)) {
      client.writeHead("POST", CHAT, headers);
      client.write(GOOD);

      WireResponse response = client.readResponse();

      assertThat(response.status()).as(response.toString()).isEqualTo(200);
    }
    assertThat(worker.received())
        .singleElement()
        .satisfies(one ->
            // vLLM refuses every other name, and none.
            assertThat(one.head().header("content-type")).matches("(?i)application/json(;.*)?"));
  }

  @ParameterizedTest(name = "POST {0}")
  @ValueSource(
      strings = {
        "/",
        "/v1",
        "/v1/",
        "/metrics",
        "/v1/load_lora_adapter",
        "/v1/unload_lora_adapter",
        "/sleep",
        "/wake_up",
        "/reset_prefix_cache",
        "/collective_rpc",
        "/server_info",
        "/invocations",
        "/pause",
        "/abort_requests",
        "/scale_elastic_ep",
        "/v1/audio/transcriptions",
        "/v1/chat/completions/render",
        "/v1/chat/completions/",
        "/v1/chat/completions%00",
        "/v1/chat%2fcompletions",
        "/V1/chat/completions",
        "/v1/chat/../load_lora_adapter",
        "/v1/chat/completions/../../../metrics",
        "/v1/%2e%2e/metrics",
        "/v1/chat/completions;x=y",
        "/_sim/faults",
        "/decisions",
        "/readyz"
      })
  void a_path_outside_the_list_reaches_no_worker(String path) throws IOException {
    WireResponse response = WireClient.post(gateway, path, GOOD.getBytes(UTF_8), List.of());

    assertThat(response.status()).as("%s: %s", path, response).isBetween(400, 499);
    assertThat(worker.received()).as("what reached the worker").isEmpty();
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(
      strings = {
        "GET /v1/chat/completions",
        "PUT /v1/chat/completions",
        "DELETE /v1/chat/completions",
        "PATCH /v1/messages",
        "HEAD /v1/messages",
        "DELETE /v1/models",
        "POST /v1/models",
        "TRACE /v1/models",
        "BREW /v1/chat/completions"
      })
  void a_wrong_method_reaches_no_worker(String line) throws IOException {
    String[] parts = line.split(" ", 2);
    try (WireClient client = WireClient.connect(gateway)) {
      client.writeHead(parts[0], parts[1], List.of(new Header("connection", "close")));

      WireHead head = client.readHead();

      assertThat(head.status()).as(line).isBetween(400, 499);
      // What is no method at all, or none that a proxy takes, Envoy refuses by itself as malformed.
      if (!parts[0].equals("BREW") && !parts[0].equals("TRACE")) {
        assertThat(head.status()).as(line).isEqualTo(405);
        assertThat(head.header("allow"))
            .as(line)
            .isEqualTo(parts[1].equals("/v1/models") ? "GET" : "POST");
      }
    }
    assertThat(worker.received()).as("what reached the worker").isEmpty();
  }

  /** What is no HTTP, or two requests in one: name, bytes. */
  static Stream<Arguments> brokenHttp() {
    String post =
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
    return Stream.of(
        arguments("noise", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\r\n\r\n"),
        arguments("no version", "POST /v1/chat/completions\r\n\r\n"),
        arguments("wrong version", "POST /v1/chat/completions HTTP/9.9\r\nhost: x\r\n\r\n"),
        arguments("no host", "POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 0\r\n\r\n"),
        arguments("negative length", post + "content-length: -5\r\n\r\n"),
        arguments("length of letters", post + "content-length: ten\r\n\r\n"),
        arguments("huge length", post + "content-length: 99999999999999999999999\r\n\r\n"),
        arguments("two lengths", post + "content-length: 2\r\ncontent-length: 3\r\n\r\n{}x"),
        arguments(
            "length and chunks",
            post + "content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"),
        arguments("unknown transfer coding", post + "transfer-encoding: gzip\r\n\r\n"),
        arguments("chunk size of letters", post + "transfer-encoding: chunked\r\n\r\nzz\r\n\r\n"),
        arguments("huge chunk", post + "transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n"),
        arguments("space in a header name", post + "bad name: x\r\ncontent-length: 0\r\n\r\n"),
        arguments(
            "headers of 1 MB",
            post + ("x-fill: " + "a".repeat(8000) + "\r\n").repeat(128) + "\r\n"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("brokenHttp")
  void broken_http_is_refused_or_cut(String name, String bytes) throws IOException {
    try (WireClient client = WireClient.connect(gateway)) {
      client.writeTolerantly(bytes.getBytes(ISO_8859_1));
      int status;
      try {
        status = client.readHead().status();
      } catch (IOException cut) {
        status = 400;
      }
      assertThat(status).as(name).isBetween(400, 505).isNotIn(500, 502, 503, 504);
    }
    assertThat(worker.received()).as("what reached the worker").isEmpty();
  }

  @Test
  void an_upload_that_never_ends_is_not_a_request() throws IOException {
    try (WireClient client = WireClient.connect(gateway)) {
      client.writeHead(
          "POST",
          CHAT,
          List.of(
              new Header("content-type", "application/json"),
              new Header("content-length", "100000")));
      client.write(GOOD);
      client.reset();
    }
    await("it is recorded as left")
        .atMost(WireClient.PATIENCE)
        .until(() ->
            StreamSupport.stream(
                    WireClient.get(stack.admin(), "/decisions?last=9").json().spliterator(), false)
                .anyMatch(record ->
                    record.path("outcome").asString("").equals("CLIENT_GONE")
                        && record.path("operation").asString("").equals(CHAT)
                        && record.path("model").asString("").isEmpty()));
    assertThat(worker.received()).isEmpty();
  }

  @Test
  void expect_continue_is_answered() throws IOException {
    try (WireClient client = WireClient.connect(gateway)) {
      client.writeHead(
          "POST",
          CHAT,
          List.of(
              new Header("content-type", "application/json"),
              new Header("expect", "100-continue"),
              new Header("content-length", Integer.toString(GOOD.length()))));
      client.write(GOOD);

      assertThat(client.readResponse().status()).isEqualTo(200);
    }
  }

  @Test
  void a_refusal_never_cuts_a_connection_without_saying_so() throws IOException {
    for (String bad : List.of("{", GOOD.replace("tiny", "nope"))) {
      try (WireClient client = WireClient.connect(gateway)) {
        WireResponse refusal = send(client, bad);
        assertThat(refusal.status()).as(refusal.toString()).isBetween(400, 404);

        // Envoy closes an HTTP/1.1 connection after a 400, as the peer may be out of step.
        if ("close".equals(refusal.header("connection"))) {
          assertThat(client.readsEnd()).isTrue();
        } else {
          assertThat(send(client, GOOD).status()).isEqualTo(200);
        }
      }
    }
  }

  private static WireResponse send(WireClient client, String body) throws IOException {
    client.writePost(CHAT, body.getBytes(UTF_8));
    return client.readResponse();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static String chatText(String content) {
    return "{\"model\":\"tiny\",\"max_tokens\":4,\"messages\":[{\"role\":\"user\",\"content\":"
        + content
        + "}]}";
  }

  private static byte[] chat(String content) {
    return bytes(chatText(content));
  }

  private static byte[] with(String more) {
    return bytes(
        "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]," + more + "}");
  }

  private static byte[] manyKeys() {
    StringBuilder text = new StringBuilder("{\"model\":\"tiny\"");
    for (int i = 0; i < 100_000; i++) {
      text.append(",\"k").append(i).append("\":").append(i);
    }
    return bytes(text.append(",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}").toString());
  }

  private static byte[] invalidUtf8() {
    byte[] body = chat("\"ab\"");
    for (int i = 0; i < body.length; i++) {
      if (body[i] == 'a' && body[i + 1] == 'b') {
        body[i] = (byte) 0xc3;
        body[i + 1] = (byte) 0x28;
      }
    }
    return body;
  }
}
