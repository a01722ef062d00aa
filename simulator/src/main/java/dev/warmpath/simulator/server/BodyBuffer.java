package dev.warmpath.simulator.server;

import io.netty.buffer.ByteBuf;
import java.util.Arrays;

/**
 * The bytes of a body as they come in; of a body whose length was announced there is only ever one
 * copy.
 */
final class BodyBuffer {
  private byte[] bytes;
  private int size;

  BodyBuffer(int expected) {
    bytes = new byte[expected];
  }

  int size() {
    return size;
  }

  void append(ByteBuf content) {
    int length = content.readableBytes();
    if (size + length > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(size + length, 2 * bytes.length));
    }
    content.getBytes(content.readerIndex(), bytes, size, length);
    size += length;
  }

  byte[] toBytes() {
    return size == bytes.length ? bytes : Arrays.copyOf(bytes, size);
  }
}
