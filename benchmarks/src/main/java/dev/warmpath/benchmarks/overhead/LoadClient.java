package dev.warmpath.benchmarks.overhead;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One keep-alive HTTP/1.1 connection that posts bodies and times the answers. A blocking socket,
 * because the client has to cost little next to what it measures. One thread.
 */
final class LoadClient implements Closeable {
  private static final int TIMEOUT_MILLIS = 30_000;

  private final InetSocketAddress target;
  private final String path;
  private @Nullable Socket socket;
  private @Nullable InputStream in;
  private final byte[] chunk = new byte[64 * 1024];

  LoadClient(InetSocketAddress target, String path) {
    this.target = target;
    this.path = path;
  }

  /**
   * What happened to one request. Times are from the first byte written.
   *
   * @param failure null if a 200 arrived whole and held no error event
   */
  record Answer(long firstByteNanos, long endNanos, @Nullable String failure) {}

  Answer post(byte[] body) {
    long start = System.nanoTime();
    try {
      Socket open = connected();
      OutputStream out = open.getOutputStream();
      String head =
          "POST "
              + path
              + " HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nAuthorization: Bearer bench\r\nContent-Length: "
              + body.length
              + "\r\n\r\n";
      byte[] headBytes = head.getBytes(StandardCharsets.ISO_8859_1);
      byte[] request = new byte[headBytes.length + body.length];
      System.arraycopy(headBytes, 0, request, 0, headBytes.length);
      System.arraycopy(body, 0, request, headBytes.length, body.length);
      out.write(request);
      return answer(start);
    } catch (IOException e) {
      close();
      return new Answer(0, System.nanoTime() - start, String.valueOf(e));
    }
  }

  private Answer answer(long start) throws IOException {
    String status = line();
    long length = -1;
    boolean chunked = false;
    boolean closes = false;
    for (String header = line(); !header.isEmpty(); header = line()) {
      String lower = header.toLowerCase(Locale.ROOT);
      if (lower.startsWith("content-length:")) {
        length = Long.parseLong(lower.substring(15).strip());
      } else if (lower.startsWith("transfer-encoding:") && lower.contains("chunked")) {
        chunked = true;
      } else if (lower.startsWith("connection:") && lower.contains("close")) {
        closes = true;
      }
    }
    long firstByte = 0;
    boolean errorEvent = false;
    boolean done = false;
    if (chunked) {
      for (int size = chunkSize(); size > 0; size = chunkSize()) {
        if (firstByte == 0) {
          firstByte = System.nanoTime() - start;
        }
        String text =
            new String(exactly(size), 0, Math.min(size, chunk.length), StandardCharsets.ISO_8859_1);
        errorEvent |= text.contains("\"error\"");
        done |= text.contains("[DONE]");
        line();
      }
      line();
    } else if (length >= 0) {
      for (long left = length; left > 0; ) {
        int n = (int) Math.min(left, chunk.length);
        exactly(n);
        if (firstByte == 0) {
          firstByte = System.nanoTime() - start;
        }
        left -= n;
      }
    }
    if (closes) {
      close();
    }
    String failure =
        !status.contains(" 200 ")
            ? status
            : errorEvent ? "error event" : chunked && !done ? "stream without [DONE]" : null;
    return new Answer(firstByte, System.nanoTime() - start, failure);
  }

  private Socket connected() throws IOException {
    Socket open = socket;
    if (open == null || open.isClosed()) {
      open = new Socket();
      open.setOption(StandardSocketOptions.TCP_NODELAY, true);
      open.setSoTimeout(TIMEOUT_MILLIS);
      open.connect(target, TIMEOUT_MILLIS);
      socket = open;
      in = new BufferedInputStream(open.getInputStream(), 32 * 1024);
    }
    return open;
  }

  private InputStream input() throws IOException {
    InputStream open = in;
    if (open == null) {
      throw new IOException("not connected");
    }
    return open;
  }

  private int chunkSize() throws IOException {
    String line = line();
    int semicolon = line.indexOf(';');
    return Integer.parseInt(
        semicolon < 0 ? line.strip() : line.substring(0, semicolon).strip(), 16);
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream(64);
    for (int b = input().read(); b != '\n'; b = input().read()) {
      if (b < 0) {
        throw new IOException("connection closed inside the answer");
      }
      if (b != '\r') {
        line.write(b);
      }
    }
    return line.toString(StandardCharsets.ISO_8859_1);
  }

  /** Reads {@code size} bytes; the last at most 64 KiB of them are in the returned buffer. */
  private byte[] exactly(int size) throws IOException {
    int left = size;
    while (left > 0) {
      int n = input().readNBytes(chunk, 0, Math.min(left, chunk.length));
      if (n <= 0) {
        throw new IOException("connection closed inside the answer");
      }
      left -= n;
    }
    return chunk;
  }

  @Override
  public void close() {
    try {
      if (socket != null) {
        socket.close();
      }
    } catch (IOException ignored) {
      // Closing is all that was wanted.
    }
    socket = null;
    in = null;
  }
}
