package dev.warmpath.extproc.label;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.TenantSpec;
import dev.warmpath.extproc.tenant.Tenant;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestLabelsTest {
  private static final byte[] HELLO = body("hello");

  private final CountDownLatch release = new CountDownLatch(1);
  private HttpServer server = newServer();
  private volatile int status = 200;
  private volatile String answer =
      "{\"value\":\"toxic\",\"spans\":[{\"start\":0,\"kind\":\"insult\"}]}";
  private volatile boolean slow;
  private volatile String received = "";

  private static HttpServer newServer() {
    try {
      return HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @BeforeEach
  void start() {
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext(
        "/",
        exchange -> {
          received = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
          if (slow) {
            try {
              release.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          }
          byte[] bytes = answer.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(status, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void stop() {
    release.countDown();
    server.stop(0);
  }

  @Test
  void aLabelIsComputedOnceAndOnlyWhenAsked() {
    int[] runs = {0};
    Classifier counting =
        new Classifier() {
          @Override
          public String key() {
            return "k";
          }

          @Override
          public Verdict classify(RequestText text) {
            runs[0]++;
            return Verdict.of("v");
          }
        };
    LabelSource labels =
        new Classifiers(List.of(counting), List.of(), () -> 0).of(HELLO, Map.of(), tenant(false));

    assertThat(runs[0]).isZero();
    assertThat(labels.label("k").value()).isEqualTo("v");
    assertThat(labels.label("k").value()).isEqualTo("v");
    assertThat(runs[0]).isEqualTo(1);
    assertThat(labels.label("other").value()).isEqualTo(Label.UNKNOWN);
    assertThat(labels.pending()).isNull();
  }

  @Test
  void aBrokenClassifierIsUnknownAndLeaksNothing() {
    Classifier broken =
        new Classifier() {
          @Override
          public String key() {
            return "k";
          }

          @Override
          public Verdict classify(RequestText text) {
            throw new IllegalStateException("secret text");
          }
        };

    Label label =
        new Classifiers(List.of(broken), List.of(), () -> 0)
            .of(HELLO, Map.of(), tenant(false))
            .label("k");

    assertThat(label.value()).isEqualTo(Label.UNKNOWN);
    assertThat(label.reason()).isEqualTo("failed: IllegalStateException");
  }

  @Test
  void theLabelHeaderCountsForTrustedTenantsOnly() {
    Map<String, String> headers =
        Map.of(GatewayNames.LABELS_HEADER, "pii=absent, complexity = complex,=x,bad,e=<script>");
    Classifiers classifiers = Classifiers.builtIn(() -> 0);
    byte[] body = body("my card is 4111 1111 1111 1111");

    Label trusted = classifiers.of(body, headers, tenant(true)).label("pii");
    Label untrusted = classifiers.of(body, headers, tenant(false)).label("pii");

    assertThat(trusted.value()).isEqualTo("absent");
    assertThat(trusted.source()).isEqualTo(Label.Source.HEADER);
    assertThat(untrusted.value()).isEqualTo("present");
    assertThat(untrusted.kinds()).containsExactly("payment-card");
    assertThat(classifiers.of(body, headers, tenant(true)).label("complexity").value())
        .isEqualTo("complex");
    assertThat(classifiers.of(body, headers, tenant(true)).label("e").value())
        .isEqualTo(Label.UNKNOWN);
  }

  @Test
  void aWebhookGivesValueAndKinds() {
    LabelSource labels = webhook(Duration.ofSeconds(10), 4);

    Label first = labels.label("tone");
    await(labels);
    Label second = labels.label("tone");

    assertThat(first.value()).isEqualTo(Label.UNKNOWN);
    assertThat(second.value()).isEqualTo("toxic");
    assertThat(second.kinds()).containsExactly("insult");
    assertThat(second.source()).isEqualTo(Label.Source.WEBHOOK);
    assertThat(labels.pending()).isNull();
    assertThat(received).isEqualTo(new String(HELLO, StandardCharsets.UTF_8));
  }

  @Test
  void everyFailureOfAWebhookIsUnknown() {
    status = 500;
    assertThat(ask().reason()).isEqualTo("webhook answered 500");
    status = 200;
    answer = "<html>";
    assertThat(ask().reason()).isEqualTo("webhook's answer is not JSON");
    answer = "{\"value\":\"\"}";
    assertThat(ask().reason()).isEqualTo("webhook gave no value");
    answer = "{\"value\":[1]}";
    assertThat(ask().value()).isEqualTo(Label.UNKNOWN);
    assertThat(webhook(Duration.ofSeconds(1), 0).label("tone").reason())
        .isEqualTo("too many questions at once");
    slow = true;
    LabelSource late = webhook(Duration.ofMillis(50), 4);
    late.label("tone");
    await(late);
    assertThat(late.label("tone").reason()).isEqualTo("webhook did not answer in time");
    server.stop(0);
    assertThat(ask().value()).isEqualTo(Label.UNKNOWN);
  }

  @Test
  void aWebhookIsReadFromOneLine() {
    assertThat(LabelWebhook.parse("tone=http://127.0.0.1:1/t deadline=200ms concurrency=3"))
        .isEqualTo(
            new LabelWebhook(
                "tone", URI.create("http://127.0.0.1:1/t"), Duration.ofMillis(200), 3));
    assertThat(LabelWebhook.parse(" topic=https://x.example/?a=b "))
        .isEqualTo(
            new LabelWebhook(
                "topic", URI.create("https://x.example/?a=b"), Duration.ofMillis(250), 64));
    for (String wrong :
        List.of(
            "",
            "tone",
            "=http://x",
            "t e=http://x",
            "t=ftp://x",
            "t=http:///x",
            "t=http://x soon",
            "t=http://x deadline=0",
            "t=http://x deadline=2m",
            "t=http://x concurrency=0",
            "t=http://x concurrency=many")) {
      assertThatThrownBy(() -> LabelWebhook.parse(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'" + wrong + "'");
    }
  }

  private Label ask() {
    LabelSource labels = webhook(Duration.ofSeconds(10), 4);
    labels.label("tone");
    await(labels);
    return labels.label("tone");
  }

  private static void await(LabelSource labels) {
    LabelSource.Pending pending = Objects.requireNonNull(labels.pending());
    try {
      pending.ready().toCompletableFuture().get(20, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError("it always completes normally", e);
    }
  }

  private LabelSource webhook(Duration deadline, int places) {
    URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/classify");
    WebhookClassifier webhook =
        new WebhookClassifier("tone", uri, deadline, places, HttpClient.newHttpClient(), () -> 0);
    return new Classifiers(List.of(), List.of(webhook), () -> 0).of(HELLO, Map.of(), tenant(false));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Hello, how are you? | simple",
        "What is the capital of France? | simple",
        "thanks! | simple",
        "Explain and compare quicksort and mergesort. | medium",
        "Design and implement an algorithm step by step, prove that it is optimal and derive its complexity of time. | complex",
        "Please look at this and tell me what you think about the way the committee came to its conclusion over the last three years in office | unknown",
        "请解释一下量子力学的基本原理 | unknown"
      })
  void complexity(String text, String expected) {
    assertThat(label("complexity", body(text))).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "What is the best way to get from the station to my hotel? | en",
        "Wie komme ich mit der Bahn und dem Bus zum Hotel? | de",
        "Je ne sais pas comment aller à la gare avec le bus | fr",
        "¿Cómo puedo ir a la estación con el autobús y no perderme en la ciudad? | es",
        "请解释一下量子力学的基本原理 | zh",
        "量子力学の基本を説明してください | ja",
        "안녕하세요 오늘 날씨가 어때요 | ko",
        "lorem 12345 | unknown"
      })
  void language(String text, String expected) {
    assertThat(label("language", body(text))).isEqualTo(expected);
  }

  @Test
  void code() {
    assertThat(label("code", body("Fix this:\\n```java\\nint a;\\n```"))).isEqualTo("present");
    assertThat(label("code", body("def f(x):\\n    y = g(x)\\nreturn y == f()\\n")))
        .isEqualTo("present");
    assertThat(label("code", body("I return on Monday; let us meet then."))).isEqualTo("absent");
  }

  @Test
  void theLastUserMessageCountsInEveryShape() {
    byte[] chat =
        bytes(
            "{\"messages\":[{\"role\":\"user\",\"content\":\"```x```\"},{\"role\":\"assistant\","
                + "\"content\":\"ok\"},{\"content\":[{\"type\":\"text\",\"text\":\"thanks!\"}],"
                + "\"role\":\"user\"}]}");
    byte[] prompt = bytes("{\"prompt\":\"thanks!\"}");
    byte[] responses = bytes("{\"instructions\":\"```\",\"input\":\"thanks!\"}");

    for (byte[] body : List.of(chat, prompt, responses)) {
      assertThat(label("code", body)).isEqualTo("absent");
      assertThat(label("complexity", body)).isEqualTo("simple");
    }
  }

  private static String label(String key, byte[] body) {
    return Classifiers.builtIn(() -> 0).of(body, Map.of(), tenant(false)).label(key).value();
  }

  private static byte[] body(String text) {
    return bytes("{\"messages\":[{\"role\":\"user\",\"content\":\"" + text + "\"}]}");
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static Tenant tenant(boolean trusted) {
    return Tenant.of(
        new RoutingConfiguration.Tenant(
            new RoutingConfiguration.Id("default", "t", 1),
            new TenantSpec(
                List.of(),
                null,
                null,
                new TenantSpec.Models(List.of(), List.of()),
                Map.of(),
                new TenantSpec.Limits(null, null, null),
                null,
                0,
                trusted),
            List.of()));
  }
}
