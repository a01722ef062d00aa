package dev.warmpath.simulator.conformance;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/** A client that keeps the bytes and the times: one connection, closed by whoever opened it. */
public final class WireProbe implements AutoCloseable {
  private static final int TIMEOUT_MILLIS = 60_000;

  private final URI server;
  private final Socket socket;
  private final BufferedInputStream in;

  public WireProbe(URI server) throws IOException {
    this.server = server;
    socket = new Socket(server.getHost(), server.getPort());
    socket.setSoTimeout(TIMEOUT_MILLIS);
    socket.setTcpNoDelay(true);
    in = new BufferedInputStream(socket.getInputStream());
  }

  /** Sends a request; the connection stays open. */
  public void send(WireRequest request) throws IOException {
    byte[] body = request.body().getBytes(StandardCharsets.UTF_8);
    StringBuilder head = new StringBuilder(256);
    head.append(request.method()).append(' ').append(request.path()).append(" HTTP/1.1\r\nhost: ");
    head.append(server.getHost()).append("\r\n");
    request
        .headers()
        .forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    if (!request.method().equals("GET")) {
      head.append("content-length: ").append(body.length).append("\r\n");
    }
    OutputStream out = socket.getOutputStream();
    out.write(head.append("\r\n").toString().getBytes(StandardCharsets.UTF_8));
    out.write(body);
    out.flush();
  }

  /** Reads the next response. */
  public WireResponse receive() throws IOException {
    return WireResponse.read(in, System::nanoTime);
  }

  /** One byte of what comes next, -1 when the server closed. */
  public int readByte() throws IOException {
    return in.read();
  }

  /** Sends a request on a connection of its own and reads the response. */
  public static WireResponse exchange(URI server, WireRequest request) throws IOException {
    try (WireProbe probe = new WireProbe(server)) {
      probe.send(request);
      return probe.receive();
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
