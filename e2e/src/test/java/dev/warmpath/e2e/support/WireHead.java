package dev.warmpath.e2e.support;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** First line and headers of an HTTP/1.1 message. */
public record WireHead(String firstLine, List<Header> headers) {

  private static final int MAX_HEAD_BYTES = 1 << 20;

  public WireHead {
    headers = List.copyOf(headers);
  }

  /** Reads one head, or returns null where the peer closed before its first byte. */
  static @Nullable WireHead read(InputStream in) throws IOException {
    String first = readLine(in);
    if (first == null) {
      return null;
    }
    List<Header> headers = new ArrayList<>();
    while (true) {
      String line = readLine(in);
      if (line == null) {
        throw new EOFException("closed inside the headers after " + first);
      }
      if (line.isEmpty()) {
        return new WireHead(first, headers);
      }
      int colon = line.indexOf(':');
      headers.add(new Header(line.substring(0, colon), line.substring(colon + 1).strip()));
    }
  }

  /** Status code of a response head. */
  public int status() {
    return Integer.parseInt(firstLine.split(" ", 3)[1]);
  }

  /** The first value of that header, case ignored, or null. */
  public @Nullable String header(String name) {
    for (Header header : headers) {
      if (header.name().equalsIgnoreCase(name)) {
        return header.value();
      }
    }
    return null;
  }

  /** Lower-case names in order. */
  public List<String> names() {
    return headers.stream().map(header -> header.name().toLowerCase(Locale.ROOT)).toList();
  }

  /** The body that belongs to this head. */
  InputStream body(InputStream connection, boolean untilCloseAllowed) {
    String encoding = header("transfer-encoding");
    if (encoding != null && encoding.toLowerCase(Locale.ROOT).contains("chunked")) {
      return new ChunkedBody(connection);
    }
    String length = header("content-length");
    if (length != null) {
      return new FixedBody(connection, Long.parseLong(length));
    }
    return untilCloseAllowed ? connection : InputStream.nullInputStream();
  }

  static @Nullable String readLine(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    while (true) {
      int next = in.read();
      if (next < 0) {
        if (line.size() == 0) {
          return null;
        }
        throw new EOFException("closed inside a line");
      }
      if (next == '\n') {
        String text = line.toString(ISO_8859_1);
        return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
      }
      if (line.size() > MAX_HEAD_BYTES) {
        throw new IOException("line longer than " + MAX_HEAD_BYTES + " bytes");
      }
      line.write(next);
    }
  }

  /** Body of known length; an early end is an error. */
  private static final class FixedBody extends InputStream {
    private final InputStream in;
    private long left;

    FixedBody(InputStream in, long length) {
      this.in = in;
      left = length;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      if (left == 0) {
        return -1;
      }
      int count = in.read(target, offset, (int) Math.min(left, length));
      if (count < 0) {
        throw new EOFException("closed " + left + " bytes before the end of the body");
      }
      left -= count;
      return count;
    }
  }

  /** Chunked body; an end without the last chunk is an error. */
  private static final class ChunkedBody extends InputStream {
    private final InputStream in;
    private long left;
    private boolean ended;

    ChunkedBody(InputStream in) {
      this.in = in;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      if (ended) {
        return -1;
      }
      if (left == 0) {
        String size = readLine(in);
        if (size == null) {
          throw new EOFException("closed before the last chunk");
        }
        left = Long.parseLong(size.split(";", 2)[0].strip(), 16);
        if (left == 0) {
          String trailer = readLine(in);
          while (trailer != null && !trailer.isEmpty()) {
            trailer = readLine(in);
          }
          ended = true;
          return -1;
        }
      }
      int count = in.read(target, offset, (int) Math.min(left, length));
      if (count < 0) {
        throw new EOFException("closed inside a chunk");
      }
      left -= count;
      if (left == 0) {
        String end = readLine(in);
        if (end == null || !end.isEmpty()) {
          throw new EOFException("chunk without its end");
        }
      }
      return count;
    }
  }
}
