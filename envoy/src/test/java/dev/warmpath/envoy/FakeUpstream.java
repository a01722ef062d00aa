package dev.warmpath.envoy;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** An HTTP/1.1 server that writes exactly the bytes, in exactly the pieces, that a script wants. */
final class FakeUpstream implements AutoCloseable {

  /** What arrived. */
  @SuppressWarnings("ArrayRecordComponent") // wire bytes; never compared
  record Received(String requestLine, Map<String, String> headers, byte[] body) {}

  /** Writes one response. */
  interface Script {
    void answer(Received request, Writer writer) throws IOException, InterruptedException;
  }

  private final ServerSocket server;
  private final List<Received> received = new CopyOnWriteArrayList<>();
  private volatile Script script = (request, writer) -> writer.json(200, "{}");

  FakeUpstream() throws IOException {
    server = new ServerSocket(0, 1000, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::acceptAll);
  }

  int port() {
    return server.getLocalPort();
  }

  void script(Script value) {
    script = value;
  }

  List<Received> received() {
    return received;
  }

  private void acceptAll() {
    while (!server.isClosed()) {
      try {
        Socket socket = server.accept();
        socket.setTcpNoDelay(true);
        Thread.ofVirtual().start(() -> serve(socket));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      while (true) {
        Received request = read(in);
        if (request == null) {
          return;
        }
        received.add(request);
        script.answer(request, new Writer(socket, socket.getOutputStream()));
      }
    } catch (IOException | UncheckedIOException e) {
      // The connection is gone; so is this handler.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static @org.jspecify.annotations.Nullable Received read(InputStream in)
      throws IOException {
    String requestLine = line(in);
    if (requestLine.isEmpty()) {
      return null;
    }
    Map<String, String> headers = new LinkedHashMap<>();
    for (String header = line(in); !header.isEmpty(); header = line(in)) {
      int colon = header.indexOf(':');
      headers.put(
          header.substring(0, colon).toLowerCase(Locale.ROOT), header.substring(colon + 1).strip());
    }
    byte[] body;
    if ("chunked".equals(headers.get("transfer-encoding"))) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      for (int size = Integer.parseInt(line(in), 16);
          size > 0;
          size = Integer.parseInt(line(in), 16)) {
        out.write(in.readNBytes(size));
        line(in);
      }
      line(in);
      body = out.toByteArray();
    } else {
      body = in.readNBytes(Integer.parseInt(headers.getOrDefault("content-length", "0")));
    }
    return new Received(requestLine, headers, body);
  }

  private static String line(InputStream in) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int c = in.read(); c >= 0 && c != '\n'; c = in.read()) {
      if (c != '\r') {
        out.write(c);
      }
    }
    return out.toString(StandardCharsets.US_ASCII);
  }

  @Override
  public void close() throws IOException {
    server.close();
  }

  /** Writes a response in pieces; each piece is one HTTP chunk and one segment on the wire. */
  static final class Writer {
    private final Socket socket;
    private final OutputStream out;

    Writer(Socket socket, OutputStream out) {
      this.socket = socket;
      this.out = out;
    }

    void json(int status, String body) throws IOException {
      whole(status, "application/json", body.getBytes(StandardCharsets.UTF_8));
    }

    void whole(int status, String contentType, byte[] body) throws IOException {
      head(status, "content-type: " + contentType + "\r\ncontent-length: " + body.length + "\r\n");
      out.write(body);
      out.flush();
    }

    void stream(String moreHeaders) throws IOException {
      head(200, "content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n" + moreHeaders);
    }

    void head(int status, String headers) throws IOException {
      out.write(
          ("HTTP/1.1 " + status + " X\r\nserver: uvicorn\r\n" + headers + "\r\n")
              .getBytes(StandardCharsets.US_ASCII));
      out.flush();
    }

    void raw(byte[] bytes) throws IOException {
      out.write(bytes);
      out.flush();
    }

    void chunk(byte[] bytes) throws IOException {
      if (bytes.length > 0) {
        out.write((Integer.toHexString(bytes.length) + "\r\n").getBytes(StandardCharsets.US_ASCII));
        out.write(bytes);
        out.write("\r\n".getBytes(StandardCharsets.US_ASCII));
        out.flush();
      }
    }

    void chunk(String text) throws IOException {
      chunk(text.getBytes(StandardCharsets.UTF_8));
    }

    void end() throws IOException {
      raw("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    }

    /** Closes with a TCP reset. */
    void reset() throws IOException {
      socket.setSoLinger(true, 0);
      socket.close();
    }
  }
}
