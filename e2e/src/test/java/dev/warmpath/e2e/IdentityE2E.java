package dev.warmpath.e2e;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.e2e.support.ConfigFolder;
import dev.warmpath.e2e.support.Errors;
import dev.warmpath.e2e.support.Header;
import dev.warmpath.e2e.support.Json;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.Scripts;
import dev.warmpath.e2e.support.Stack;
import dev.warmpath.e2e.support.Tokens;
import dev.warmpath.e2e.support.WireClient;
import dev.warmpath.e2e.support.WireResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Who calls, where no API key says it: signed tokens that Envoy verifies with keys of the issuer or
 * of a file, and a mesh's identity where the listener is told to trust one.
 */
class IdentityE2E {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String IDENTITY = "x-forwarded-client-cert";
  private static final String PRINCIPAL = "spiffe://cluster.local/ns/ml/sa/batch";
  private static final List<String> PATHS = List.of("/v1/chat/completions", "/v1/messages");

  private static Tokens issuer;
  private static Tokens fileIssuer;
  private static Tokens stranger;
  private static ScriptedWorker worker;
  private static ScriptedWorker keys;
  private static Stack trusting;
  private static Stack plain;

  @BeforeAll
  static void start(@TempDir Path folder) throws Exception {
    issuer = new Tokens("k1");
    fileIssuer = new Tokens("k2");
    stranger = new Tokens("k1");
    worker = ScriptedWorker.start("tiny", Scripts.vllm());
    keys = ScriptedWorker.start("keys", (request, reply) -> reply.json(200, issuer.keySet()));
    Path file = folder.resolve("keys.json");
    Files.writeString(file, fileIssuer.keySet());
    ConfigFolder config =
        new ConfigFolder(folder.resolve("config"))
            .workerSet("w", List.of(new ConfigFolder.Worker("w0", worker.port())))
            .pool("tiny", "tiny", "w")
            .poolBackend("tiny", "tiny", "tiny")
            .write("secrets/red/key", "sk-red")
            .write("secrets/labelling/key", "sk-labelling")
            .tenant("red", "red", "key", "*")
            .write(
                "tenants.yaml",
                """
                apiVersion: inference.warmpath.dev/v1alpha1
                kind: InferenceTenant
                metadata: {name: team-a}
                spec:
                  jwt:
                    issuer: http://127.0.0.1:%d
                    audiences: [gateway]
                    claims: {team: a}
                ---
                apiVersion: inference.warmpath.dev/v1alpha1
                kind: InferenceTenant
                metadata: {name: from-file}
                spec:
                  jwt: {issuer: "https://file.example", jwksUri: "file://%s", claims: {groups: ml}}
                ---
                apiVersion: inference.warmpath.dev/v1alpha1
                kind: InferenceTenant
                metadata: {name: mesh}
                spec:
                  trustedIdentity: {principals: ["spiffe://cluster.local/ns/ml/*"]}
                ---
                apiVersion: inference.warmpath.dev/v1alpha1
                kind: InferenceTenant
                metadata: {name: labelling}
                spec:
                  apiKeys: [{secret: {name: labelling, key: key}}]
                  trustLabelHeader: true
                ---
                apiVersion: inference.warmpath.dev/v1alpha1
                kind: InferencePolicy
                metadata: {name: no-red}
                spec:
                  constraints: [{name: no-red, when: "labels.color == 'red'", exclude: "true", message: no red}]
                """
                    .formatted(keys.port(), file));
    plain = Stack.run(Files.createDirectory(folder.resolve("plain")), config);
    trusting =
        Stack.run(
            Files.createDirectory(folder.resolve("trusting")),
            config,
            "--trust-identity-header",
            IDENTITY);
    await("keys are fetched")
        .atMost(PATIENCE)
        .until(() -> ask(plain, PATHS.getFirst(), bearer(good())).status() == 200);
  }

  @AfterAll
  static void stop() throws IOException {
    for (Stack stack : new Stack[] {plain, trusting}) {
      if (stack != null) {
        stack.close();
      }
    }
    worker.close();
    keys.close();
  }

  private static String claims(String iss, String aud, long expiresInSeconds, String more) {
    return "{\"iss\":\"%s\",\"aud\":\"%s\",\"sub\":\"u\",\"exp\":%d,%s}"
        .formatted(iss, aud, Instant.now().getEpochSecond() + expiresInSeconds, more);
  }

  private static String iss() {
    return "http://127.0.0.1:" + keys.port();
  }

  private static String good() throws Exception {
    return issuer.sign(claims(iss(), "gateway", 600, "\"team\":\"a\""));
  }

  private static Header bearer(String token) {
    return new Header("authorization", "Bearer " + token);
  }

  private static WireResponse ask(Stack stack, String path, Header... headers) throws IOException {
    return WireClient.post(
        stack.gateway(),
        path,
        "{\"model\":\"tiny\",\"max_tokens\":4,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}"
            .getBytes(UTF_8),
        List.of(headers));
  }

  private static String tenant(Stack stack, WireResponse response) throws IOException {
    return Json.MAPPER
        .readTree(
            WireClient.get(stack.admin(), "/decisions/" + response.header("x-warmpath-decision"))
                .text())
        .path("tenant")
        .asString("");
  }

  @Test
  void a_good_token_is_its_tenant_and_goes_no_further() throws Exception {
    for (String path : PATHS) {
      worker.forget();
      WireResponse response = ask(plain, path, bearer(good()));

      assertThat(response.status()).as(response.toString()).isEqualTo(200);
      assertThat(tenant(plain, response)).isEqualTo("default/team-a");
      assertThat(worker.last().head().toString().toLowerCase(java.util.Locale.ROOT))
          .doesNotContain("authorization", "bearer", "x-wp-");
    }
  }

  @Test
  void keys_may_lie_in_a_file() throws Exception {
    String token =
        fileIssuer.sign(claims("https://file.example", "any", 600, "\"groups\":[\"x\",\"ml\"]"));

    WireResponse response = ask(plain, PATHS.getFirst(), bearer(token));

    assertThat(response.status()).as(response.toString()).isEqualTo(200);
    assertThat(tenant(plain, response)).isEqualTo("default/from-file");
  }

  @Test
  void a_token_that_proves_nothing_is_401_in_the_dialect() throws Exception {
    String fine = "\"team\":\"a\"";
    String good = good();
    Map<String, String> bad =
        Map.of(
            "expired", issuer.sign(claims(iss(), "gateway", -600, fine)),
            "wrong issuer", issuer.sign(claims("https://other.example", "gateway", 600, fine)),
            "wrong audience", issuer.sign(claims(iss(), "elsewhere", 600, fine)),
            "another's key", stranger.sign(claims(iss(), "gateway", 600, fine)),
            "another issuer's key", fileIssuer.sign(claims(iss(), "gateway", 600, fine)),
            "alg none", Tokens.unsigned(claims(iss(), "gateway", 600, fine)),
            "altered", good.substring(0, good.lastIndexOf('.')) + "." + "AAAA",
            "no token", "");
    for (Map.Entry<String, String> one : bad.entrySet()) {
      for (String path : PATHS) {
        WireResponse response = ask(plain, path, bearer(one.getValue()));

        assertThat(response.status()).as(one.getKey() + response).isEqualTo(401);
        Errors.assertShape(Errors.Shape.of(path), response);
      }
    }
    assertThat(ask(plain, PATHS.getFirst()).status()).isEqualTo(401);
    assertThat(ask(plain, PATHS.getFirst() + "?access_token=" + good).status()).isEqualTo(401);
  }

  @Test
  void a_good_token_of_nobody_is_403_in_the_dialect() throws Exception {
    String token = issuer.sign(claims(iss(), "gateway", 600, "\"team\":\"b\""));
    for (String path : PATHS) {
      WireResponse response = ask(plain, path, bearer(token));

      assertThat(response.status()).as(response.toString()).isEqualTo(403);
      assertThat(Errors.assertShape(Errors.Shape.of(path), response).path("type").asString(""))
          .isEqualTo("permission_error");
    }
  }

  @Test
  void api_keys_work_beside_tokens() throws Exception {
    WireResponse response = ask(plain, PATHS.getFirst(), bearer("sk-red"));

    assertThat(response.status()).isEqualTo(200);
    assertThat(tenant(plain, response)).isEqualTo("default/red");
  }

  @Test
  void a_mesh_identity_counts_only_on_a_listener_that_trusts_it() throws Exception {
    Header given = new Header(IDENTITY, "By=spiffe://gateway;Hash=ab;URI=" + PRINCIPAL);

    WireResponse trusted = ask(trusting, PATHS.getFirst(), given);
    WireResponse spoofed = ask(plain, PATHS.getFirst(), given);

    assertThat(trusted.status()).as(trusted.toString()).isEqualTo(200);
    assertThat(tenant(trusting, trusted)).isEqualTo("default/mesh");
    assertThat(worker.last().head().toString()).doesNotContain("spiffe");
    assertThat(spoofed.status()).isEqualTo(401);
    assertThat(
            ask(trusting, PATHS.getFirst(), new Header(IDENTITY, "URI=spiffe://evil/x")).status())
        .isEqualTo(403);
  }

  @Test
  void labels_of_a_client_count_only_from_a_tenant_that_may_send_them() throws Exception {
    Header red = new Header("x-warmpath-labels", "color=red");
    Header blue = new Header("x-warmpath-labels", "color=blue");

    assertThat(ask(plain, PATHS.getFirst(), bearer("sk-labelling"), red).status()).isEqualTo(503);
    assertThat(ask(plain, PATHS.getFirst(), bearer("sk-labelling"), blue).status()).isEqualTo(200);
    assertThat(ask(plain, PATHS.getFirst(), bearer("sk-red"), red).status()).isEqualTo(200);
    assertThat(worker.last().head().toString()).doesNotContain("x-warmpath-labels");
    // Its neighbours are still the gateway's own.
    Header other = new Header("x-warmpath-label", "x");
    Header longer = new Header("x-warmpath-labels-too", "x");
    assertThat(ask(plain, PATHS.getFirst(), bearer("sk-red"), other, longer).status())
        .isEqualTo(200);
    assertThat(worker.last().head().toString()).doesNotContain("x-warmpath");
  }

  @Test
  void the_gateways_own_header_is_nobodys_to_send() throws Exception {
    Header internal = new Header("x-wp-principal", PRINCIPAL);

    assertThat(ask(plain, PATHS.getFirst(), internal).status()).isEqualTo(401);
    assertThat(ask(trusting, PATHS.getFirst(), internal).status()).isEqualTo(401);
  }
}
