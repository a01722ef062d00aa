package dev.warmpath.xds.support;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** A worker or provider that records what reaches it and answers with its name. */
public final class Upstream implements AutoCloseable {
  private final HttpServer server;
  private final String name;
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final List<Received> received = new CopyOnWriteArrayList<>();
  private volatile int status = 200;
  private volatile CountDownLatch rest = new CountDownLatch(0);

  /** Header names are in lower case. */
  public record Received(String path, Map<String, String> headers, String body) {}

  public Upstream(String name) throws IOException {
    this(name, null);
  }

  /** With a context it speaks TLS. */
  public Upstream(String name, @Nullable SSLContext tls) throws IOException {
    this.name = name;
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    if (tls == null) {
      server = HttpServer.create(any, 0);
    } else {
      HttpsServer https = HttpsServer.create(any, 0);
      https.setHttpsConfigurator(new HttpsConfigurator(tls));
      server = https;
    }
    server.setExecutor(executor);
    server.createContext("/", this::answer);
    server.start();
  }

  public int port() {
    return server.getAddress().getPort();
  }

  public String hostPort() {
    return "127.0.0.1:" + port();
  }

  public void answerWith(int newStatus) {
    status = newStatus;
  }

  /** From now on answers stop after the first byte, until the latch is at zero. */
  public void stopAfterFirstByteUntil(CountDownLatch latch) {
    rest = latch;
  }

  public List<Received> received() {
    return received;
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      Map<String, String> headers = new TreeMap<>();
      exchange
          .getRequestHeaders()
          .forEach((k, v) -> headers.put(k.toLowerCase(Locale.ROOT), String.join(",", v)));
      received.add(new Received(exchange.getRequestURI().toString(), headers, body));
      byte[] answer = name.getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(status, answer.length);
      exchange.getResponseBody().write(answer, 0, 1);
      exchange.getResponseBody().flush();
      rest.await();
      exchange.getResponseBody().write(answer, 1, answer.length - 1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    server.stop(0);
    executor.shutdownNow();
  }
}
