package dev.warmpath.e2e.support;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * A worker on a real socket that answers with the bytes it is told to, and keeps every request
 * exactly as it came. It speaks just enough of vLLM to be scraped and listed. Thread-safe.
 */
public final class ScriptedWorker implements AutoCloseable {

  /** A request as it reached the worker. */
  @SuppressWarnings("ArrayRecordComponent") // wire bytes
  public record Received(WireHead head, byte[] body) {
    public String target() {
      return head.firstLine().split(" ", 3)[1];
    }

    public String text() {
      return new String(body, UTF_8);
    }
  }

  /** What to do with a request. */
  @FunctionalInterface
  public interface Script {
    void answer(Received request, Reply reply) throws IOException, InterruptedException;
  }

  /** The way back to the client. */
  public static final class Reply {
    private final Socket socket;
    private final OutputStream out;

    private Reply(Socket socket) throws IOException {
      this.socket = socket;
      out = socket.getOutputStream();
    }

    /** A complete response with a content length. */
    public void send(int status, String contentType, byte[] body, Header... headers)
        throws IOException {
      StringBuilder head = head(status, contentType, headers);
      head.append("content-length: ").append(body.length).append("\r\n\r\n");
      out.write(head.toString().getBytes(ISO_8859_1));
      out.write(body);
      out.flush();
    }

    public void json(int status, String body, Header... headers) throws IOException {
      send(status, "application/json", body.getBytes(UTF_8), headers);
    }

    /** Starts a chunked event stream. */
    public void startStream(Header... headers) throws IOException {
      out.write(
          head(200, "text/event-stream; charset=utf-8", headers)
              .append("transfer-encoding: chunked\r\n\r\n")
              .toString()
              .getBytes(ISO_8859_1));
      out.flush();
    }

    public void chunk(String text) throws IOException {
      chunk(text.getBytes(UTF_8));
    }

    public void chunk(byte[] bytes) throws IOException {
      out.write((Integer.toHexString(bytes.length) + "\r\n").getBytes(ISO_8859_1));
      out.write(bytes);
      out.write("\r\n".getBytes(ISO_8859_1));
      out.flush();
    }

    public void endStream() throws IOException {
      out.write("0\r\n\r\n".getBytes(ISO_8859_1));
      out.flush();
    }

    /** Breaks the connection off. */
    public void reset() throws IOException {
      socket.setSoLinger(true, 0);
      socket.close();
    }

    private static StringBuilder head(int status, String contentType, Header... headers) {
      StringBuilder head = new StringBuilder("HTTP/1.1 ").append(status).append(" Scripted\r\n");
      head.append("content-type: ").append(contentType).append("\r\n");
      for (Header header : headers) {
        head.append(header.name()).append(": ").append(header.value()).append("\r\n");
      }
      return head;
    }
  }

  private final String model;
  private final ServerSocket server;
  private final List<Received> received = new CopyOnWriteArrayList<>();
  private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
  private volatile Script script;

  private ScriptedWorker(String model, ServerSocket server, Script script) {
    this.model = model;
    this.server = server;
    this.script = script;
  }

  /** Starts on a free loopback port. */
  public static ScriptedWorker start(String model, Script script) throws IOException {
    return start(model, 0, script);
  }

  /** Starts on that port; 0 means any free one. */
  public static ScriptedWorker start(String model, int port, Script script) throws IOException {
    return start(model, new ServerSocket(port, 1024, InetAddress.getLoopbackAddress()), script);
  }

  /** Starts on a free port of that address of this machine. */
  public static ScriptedWorker start(String model, InetAddress address, Script script)
      throws IOException {
    return start(model, new ServerSocket(0, 1024, address), script);
  }

  private static ScriptedWorker start(String model, ServerSocket server, Script script) {
    ScriptedWorker worker = new ScriptedWorker(model, server, script);
    Thread.ofVirtual().name("worker-" + worker.port()).start(worker::accept);
    return worker;
  }

  public int port() {
    return server.getLocalPort();
  }

  public void script(Script next) {
    script = next;
  }

  /** Everything that came, without scrapes, health checks and model lists. */
  public List<Received> received() {
    return List.copyOf(received);
  }

  public Received last() {
    return received.getLast();
  }

  public void forget() {
    received.clear();
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket socket = server.accept();
        connections.add(socket);
        Thread.ofVirtual().start(() -> serve(socket));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      socket.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(socket.getInputStream(), 64 * 1024);
      Reply reply = new Reply(socket);
      while (true) {
        WireHead head = WireHead.read(in);
        if (head == null) {
          return;
        }
        byte[] body = head.body(in, false).readAllBytes();
        answer(new Received(head, body), reply);
      }
    } catch (SocketException gone) {
      // The other side, or this one, broke off: part of many scripts.
    } catch (IOException | InterruptedException broken) {
      // The same; a test sees it in what the client received.
    } finally {
      connections.remove(socket);
    }
  }

  private void answer(Received request, Reply reply) throws IOException, InterruptedException {
    String answer = housekeeping(request.target());
    if (answer != null) {
      reply.send(
          200,
          request.target().equals("/v1/models") ? "application/json" : "text/plain",
          answer.getBytes(UTF_8));
      return;
    }
    received.add(request);
    script.answer(request, reply);
  }

  private @Nullable String housekeeping(String target) {
    return switch (target) {
      case "/health" -> "";
      case "/metrics" -> idleMetrics();
      case "/version" -> "{\"version\":\"0.32.0\"}";
      case "/v1/models" ->
          "{\"object\":\"list\",\"data\":[{\"id\":\"%s\",\"object\":\"model\"}]}".formatted(model);
      default -> null;
    };
  }

  private String idleMetrics() {
    String labels = "{engine=\"0\",model_name=\"" + model + "\"} 0.0\n";
    return "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running"
        + labels
        + "# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting"
        + labels
        + "# TYPE vllm:kv_cache_usage_perc gauge\nvllm:kv_cache_usage_perc"
        + labels;
  }

  /** Closes the port and breaks off what runs, as a kill does. */
  @Override
  public void close() throws IOException {
    server.close();
    for (Socket socket : connections) {
      try {
        socket.setSoLinger(true, 0);
      } catch (SocketException alreadyClosed) {
        // Nothing left to break off.
      }
      socket.close();
    }
  }
}
