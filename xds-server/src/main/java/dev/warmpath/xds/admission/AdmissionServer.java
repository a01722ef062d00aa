package dev.warmpath.xds.admission;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.warmpath.crds.resource.ResourceSet;
import dev.warmpath.crds.resource.ResourceValidator;
import dev.warmpath.crds.transport.Identity;
import dev.warmpath.xds.telemetry.XdsMetrics;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Answers {@code AdmissionReview} of {@code admission.k8s.io/v1} at {@value #PATH}. Answers from
 * memory and asks nobody. Before resources have been read it answers 503, so that the
 * configuration's failure policy decides.
 */
public final class AdmissionServer implements AutoCloseable {
  /** Where the API server posts to. */
  public static final String PATH = "/validate";

  private static final Logger log = LoggerFactory.getLogger(AdmissionServer.class);

  /** An object is at most 1.5 MiB in etcd; a review of an update holds two, and some words. */
  private static final int MAX_BYTES = 4 << 20;

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final Admission admission = new Admission(new ResourceValidator());
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final Supplier<@Nullable ResourceSet> existing;
  private final XdsMetrics metrics;
  private final HttpsServer server;

  /**
   * Listens.
   *
   * @param identity the certificate to show; followed when its files are replaced
   * @param existing all well-formed resources; null before they have been read
   */
  public AdmissionServer(
      InetSocketAddress address,
      Identity identity,
      Supplier<@Nullable ResourceSet> existing,
      XdsMetrics metrics)
      throws IOException {
    this.existing = existing;
    this.metrics = metrics;
    server = HttpsServer.create(address, 0);
    server.setHttpsConfigurator(new HttpsConfigurator(tls(identity)));
    server.setExecutor(executor);
    server.createContext(PATH, this::handle);
    server.start();
  }

  private static SSLContext tls(Identity identity) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(new KeyManager[] {identity}, null, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has TLS", e);
    }
  }

  public int port() {
    return server.getAddress().getPort();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      try {
        byte[] body = exchange.getRequestBody().readNBytes(MAX_BYTES + 1);
        if (body.length > MAX_BYTES) {
          text(exchange, 413, "a review of more than " + MAX_BYTES + " bytes");
          return;
        }
        ResourceSet resources = existing.get();
        if (resources == null) {
          text(exchange, 503, "resources have not been read yet");
          return;
        }
        answer(exchange, body, resources);
      } catch (RuntimeException e) {
        log.error("a review could not be answered", e);
        text(exchange, 500, "internal error");
      }
    }
  }

  private void answer(HttpExchange exchange, byte[] body, ResourceSet resources)
      throws IOException {
    Map<?, ?> request;
    try {
      request = child(JSON.readValue(body, Map.class), "request");
    } catch (JacksonException e) {
      text(exchange, 400, "not JSON: " + e.getOriginalMessage());
      return;
    }
    if (!(request.get("uid") instanceof String uid)) {
      text(exchange, 400, "not an AdmissionReview: request.uid is missing");
      return;
    }
    Map<String, Object> response = new LinkedHashMap<>();
    response.put("uid", uid);
    Admission.Verdict verdict = verdict(request, resources);
    response.put("allowed", verdict.allowed());
    if (!verdict.warnings().isEmpty()) {
      response.put("warnings", verdict.warnings());
    }
    if (!verdict.allowed()) {
      response.put(
          "status",
          Map.of("code", 422, "reason", "Invalid", "message", String.join("; ", verdict.errors())));
    }
    metrics.admission(verdict.allowed() ? "allowed" : "denied");
    Map<String, Object> review = new LinkedHashMap<>();
    review.put("apiVersion", "admission.k8s.io/v1");
    review.put("kind", "AdmissionReview");
    review.put("response", response);
    send(exchange, 200, "application/json", JSON.writeValueAsBytes(review));
  }

  private Admission.Verdict verdict(Map<?, ?> request, ResourceSet resources) {
    Map<String, Object> object = child(request, "object");
    Map<String, Object> before = child(request, "oldObject");
    boolean nothingNew =
        object.isEmpty()
            || (object.get("spec") != null && object.get("spec").equals(before.get("spec")));
    // A deletion, and a change of labels or finalizers of what is stored already, are no business
    // of rules about specs: a bad object must remain deletable.
    return nothingNew
        ? new Admission.Verdict(List.of(), List.of())
        : admission.judge(object, resources);
  }

  private static Map<String, Object> child(Map<?, ?> parent, String name) {
    Map<String, Object> child = new LinkedHashMap<>();
    if (parent.get(name) instanceof Map<?, ?> map) {
      map.forEach((key, value) -> child.put(String.valueOf(key), value));
    }
    return child;
  }

  private static void text(HttpExchange exchange, int status, String line) throws IOException {
    send(
        exchange,
        status,
        "text/plain; charset=utf-8",
        (line + "\n").getBytes(StandardCharsets.UTF_8));
  }

  private static void send(HttpExchange exchange, int status, String type, byte[] body)
      throws IOException {
    exchange.getResponseHeaders().set("content-type", type);
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
  }

  @Override
  public void close() {
    server.stop(0);
    executor.shutdownNow();
  }
}
