package dev.warmpath.envoy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Envoy's admin interface, on a Unix socket or a port. One connection per call; thread-safe. Speaks
 * HTTP itself because the JDK's client knows no Unix sockets.
 */
public final class EnvoyAdmin {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final Pattern COUNTER = Pattern.compile(": (\\d+)\\s*$");
  private static final Pattern PORT = Pattern.compile("\"port_value\":\\s*(\\d+)");

  private final Address address;

  public EnvoyAdmin(Address address) {
    this.address = address;
  }

  public Address address() {
    return address;
  }

  /** A status and a body. */
  public record Reply(int status, String body) {}

  public Reply get(String path) throws IOException {
    return call("GET", path);
  }

  public Reply post(String path) throws IOException {
    return call("POST", path);
  }

  /** True once listeners are up and the first configuration has arrived or was waited for. */
  public boolean isLive() {
    try {
      return get("/ready").status() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  /** The port that the listener of that name is bound to. */
  public int listenerPort(String name) throws IOException {
    String body = get("/listeners?format=json").body();
    int at = body.indexOf("\"name\": \"" + name + "\"");
    at = at >= 0 ? at : body.indexOf("\"name\":\"" + name + "\"");
    Matcher matcher = PORT.matcher(body);
    if (at < 0 || !matcher.find(at)) {
      throw new IOException("Envoy has no listener '" + name + "' with a port: " + body);
    }
    return Integer.parseInt(matcher.group(1));
  }

  /** A counter or gauge by its exact name; 0 where it does not exist (yet). */
  public long stat(String name) throws IOException {
    String body = get("/stats?filter=^" + name.replace(".", "%5C.") + "$").body();
    Matcher matcher = COUNTER.matcher(body);
    return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
  }

  private Reply call(String method, String path) throws IOException {
    byte[] request =
        (method
                + " "
                + path
                + " HTTP/1.1\r\nhost: admin\r\nconnection: close\r\n"
                + "content-length: 0\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII);
    return parse(exchange(request));
  }

  private byte[] exchange(byte[] request) throws IOException {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    boolean pipe = address instanceof Address.Pipe;
    try (SocketChannel channel =
            pipe ? SocketChannel.open(StandardProtocolFamily.UNIX) : SocketChannel.open();
        Selector selector = Selector.open()) {
      channel.connect(socketAddress());
      channel.configureBlocking(false);
      ByteBuffer out = ByteBuffer.wrap(request);
      while (out.hasRemaining()) {
        channel.write(out);
      }
      channel.register(selector, SelectionKey.OP_READ);
      ByteArrayOutputStream in = new ByteArrayOutputStream();
      ByteBuffer buffer = ByteBuffer.allocate(16384);
      while (true) {
        long left = (deadline - System.nanoTime()) / 1_000_000;
        if (left <= 0) {
          throw new IOException("Envoy's admin interface did not answer within " + TIMEOUT);
        }
        selector.select(left);
        selector.selectedKeys().clear();
        int count = channel.read(buffer.clear());
        if (count < 0) {
          return in.toByteArray();
        }
        in.write(buffer.array(), 0, count);
      }
    }
  }

  private SocketAddress socketAddress() {
    return switch (address) {
      case Address.Pipe pipe -> UnixDomainSocketAddress.of(pipe.path());
      case Address.Tcp tcp -> new InetSocketAddress(tcp.host(), tcp.port());
    };
  }

  private static Reply parse(byte[] bytes) throws IOException {
    String text = new String(bytes, StandardCharsets.UTF_8);
    int end = text.indexOf("\r\n\r\n");
    if (end < 0 || !text.startsWith("HTTP/1.1 ")) {
      throw new IOException("no HTTP answer from Envoy's admin interface");
    }
    int status = Integer.parseInt(text.substring(9, 12));
    String body = text.substring(end + 4);
    boolean chunked =
        text.substring(0, end)
            .toLowerCase(java.util.Locale.ROOT)
            .contains("transfer-encoding: chunked");
    return new Reply(status, chunked ? unchunk(bytes, headerBytes(bytes)) : body);
  }

  private static int headerBytes(byte[] bytes) {
    for (int i = 3; i < bytes.length; i++) {
      if (bytes[i] == '\n' && bytes[i - 1] == '\r' && bytes[i - 2] == '\n') {
        return i + 1;
      }
    }
    return bytes.length;
  }

  private static String unchunk(byte[] bytes, int from) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int at = from;
    while (at < bytes.length) {
      int line = at;
      while (bytes[line] != '\r') {
        line++;
      }
      int size = Integer.parseInt(new String(bytes, at, line - at, StandardCharsets.US_ASCII), 16);
      if (size == 0) {
        break;
      }
      out.write(bytes, line + 2, size);
      at = line + 2 + size + 2;
    }
    return out.toString(StandardCharsets.UTF_8);
  }
}
