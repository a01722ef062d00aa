package dev.warmpath.e2e.support;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** One connection that sends exactly the bytes it is given and can break off at any point. */
public final class WireClient implements AutoCloseable {

  /** Long enough for a busy machine; a test that meets it has found a hang. */
  public static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Socket socket;
  private final InputStream in;

  private WireClient(Socket socket) throws IOException {
    this.socket = socket;
    in = new BufferedInputStream(socket.getInputStream(), 16 * 1024);
  }

  public static WireClient connect(InetSocketAddress address) throws IOException {
    Socket socket = new Socket();
    socket.connect(address, (int) PATIENCE.toMillis());
    socket.setSoTimeout((int) PATIENCE.toMillis());
    socket.setTcpNoDelay(true);
    return new WireClient(socket);
  }

  /** POST of a JSON body with the usual headers, on a connection of its own. */
  public static WireResponse post(InetSocketAddress address, String path, String body)
      throws IOException {
    return post(address, path, body.getBytes(UTF_8), List.of());
  }

  public static WireResponse post(
      InetSocketAddress address, String path, byte[] body, List<Header> headers)
      throws IOException {
    try (WireClient client = connect(address)) {
      client.writeHead("POST", path, ofJson(body, headers));
      client.writeTolerantly(body);
      return client.readResponse();
    }
  }

  private static List<Header> ofJson(byte[] body, List<Header> headers) {
    List<Header> all = new ArrayList<>(headers);
    if (all.stream().noneMatch(header -> header.name().equalsIgnoreCase("content-type"))) {
      all.add(new Header("content-type", "application/json"));
    }
    all.add(new Header("content-length", Integer.toString(body.length)));
    return all;
  }

  public static WireResponse get(InetSocketAddress address, String path, Header... headers)
      throws IOException {
    try (WireClient client = connect(address)) {
      client.writeHead("GET", path, List.of(headers));
      return client.readResponse();
    }
  }

  public void writeHead(String method, String path, List<Header> headers) throws IOException {
    StringBuilder head = new StringBuilder(method).append(' ').append(path).append(" HTTP/1.1\r\n");
    if (headers.stream().noneMatch(header -> header.name().equalsIgnoreCase("host"))) {
      head.append("host: gateway.test\r\n");
    }
    for (Header header : headers) {
      head.append(header.name()).append(": ").append(header.value()).append("\r\n");
    }
    write(head.append("\r\n").toString().getBytes(ISO_8859_1));
  }

  /** Head and whole body of a POST, whose answer the test reads, or not: it may leave as well. */
  public void writePost(String path, byte[] body, Header... headers) throws IOException {
    writeHead("POST", path, ofJson(body, List.of(headers)));
    write(body);
  }

  /** Head of a POST whose body comes in chunks, which the test writes as it likes. */
  public void writeChunkedHead(String path, Header... headers) throws IOException {
    List<Header> all = new ArrayList<>(List.of(headers));
    all.add(new Header("content-type", "application/json"));
    all.add(new Header("transfer-encoding", "chunked"));
    writeHead("POST", path, all);
  }

  public void write(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    socket.getOutputStream().flush();
  }

  public void write(String text) throws IOException {
    write(text.getBytes(UTF_8));
  }

  /** Writes a body that the peer may refuse half-way; its answer is what counts. */
  public void writeTolerantly(byte[] bytes) {
    try {
      write(bytes);
    } catch (IOException refused) {
      // The peer has answered and closed its reading side; readResponse tells.
    }
  }

  public WireHead readHead() throws IOException {
    WireHead head = WireHead.read(in);
    if (head == null) {
      throw new EOFException("closed without an answer");
    }
    return head.status() == 100 ? readHead() : head;
  }

  /** The body after {@link #readHead}; an early end throws. */
  public InputStream body(WireHead head) {
    return head.status() == 204 || head.status() == 304
        ? InputStream.nullInputStream()
        : head.body(in, true);
  }

  public WireResponse readResponse() throws IOException {
    WireHead head = readHead();
    return new WireResponse(head, body(head).readAllBytes());
  }

  /** Whether the peer has closed; waits for its next byte or its end. */
  public boolean readsEnd() throws IOException {
    return in.read() < 0;
  }

  /** How long a read may wait. */
  public void patience(Duration patience) throws IOException {
    socket.setSoTimeout((int) patience.toMillis());
  }

  /** Breaks off with a reset, as a killed client does. */
  public void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
