package dev.warmpath.e2e.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/** What a real vLLM answered, chunk by chunk as it came; see {@code resources/vllm/README.md}. */
public record Captured(WireHead head, List<String> chunks) {

  private static final String SEPARATOR = "=====RESPONSE=====\n";

  /** The answer in {@code resources/vllm/NAME.http}. */
  public static Captured answer(String name) {
    byte[] file = resource("/vllm/" + name + ".http");
    String text = new String(file, UTF_8);
    int separator = text.indexOf(SEPARATOR);
    int start =
        separator < 0
            ? 0
            : text.substring(0, separator + SEPARATOR.length()).getBytes(UTF_8).length;
    try {
      InputStream in = new ByteArrayInputStream(file, start, file.length - start);
      WireHead head = WireHead.read(in);
      if (head == null) {
        throw new IOException("no response in " + name);
      }
      return new Captured(head, chunks(head, in));
    } catch (IOException wrong) {
      throw new UncheckedIOException(wrong);
    }
  }

  private static List<String> chunks(WireHead head, InputStream in) throws IOException {
    List<String> chunks = new ArrayList<>();
    if (head.header("transfer-encoding") == null) {
      chunks.add(new String(in.readAllBytes(), UTF_8));
      return chunks;
    }
    while (true) {
      String line = WireHead.readLine(in);
      int size = line == null ? 0 : Integer.parseInt(line.strip(), 16);
      if (size == 0) {
        return chunks;
      }
      chunks.add(new String(in.readNBytes(size), UTF_8));
      WireHead.readLine(in);
    }
  }

  public static byte[] resource(String path) {
    try (InputStream in = Captured.class.getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalStateException("no resource " + path);
      }
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      in.transferTo(out);
      return out.toByteArray();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /** The whole body. */
  public String body() {
    return String.join("", chunks);
  }

  /** The same answer without the chunk that only {@code include_usage} brings. */
  public Captured withoutUsageChunk() {
    return new Captured(
        head,
        chunks.stream().filter(chunk -> !chunk.contains("\"choices\":[],\"usage\"")).toList());
  }

  public boolean isStream() {
    return head.header("transfer-encoding") != null;
  }

  /** Sends it as vLLM did. */
  public void replay(ScriptedWorker.Reply reply) throws IOException {
    if (!isStream()) {
      reply.json(head.status(), body());
      return;
    }
    reply.startStream();
    for (String chunk : chunks) {
      reply.chunk(chunk);
    }
    reply.endStream();
  }
}
