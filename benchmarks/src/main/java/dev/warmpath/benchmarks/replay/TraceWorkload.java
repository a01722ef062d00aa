package dev.warmpath.benchmarks.replay;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A public request trace, replayed open-loop.
 *
 * <p>Two formats are told apart by the file's name: {@code *.jsonl} with {@code timestamp} (ms),
 * {@code input_length}, {@code output_length} (tokens) and {@code hash_ids} (one per 512-token
 * block, equal ids mean equal content up to there); {@code *.csv} with {@code
 * TIMESTAMP,ContextTokens,GeneratedTokens}, which shares no prefixes.
 */
final class TraceWorkload implements Workload {
  static final int BLOCK_TOKENS = 512;
  private static final long NANOS_PER_MILLI = 1_000_000L;

  /** Arrival time in the trace and the request. */
  private record Row(long atMillis, ReplayRequest request) {}

  private final List<Row> rows;
  private final double stretch;

  private TraceWorkload(List<Row> rows, double stretch) {
    this.rows = rows;
    this.stretch = stretch;
  }

  /**
   * @param limit at most this many rows
   * @param stretch arrival times are multiplied by it; above 1 thins the load
   */
  static TraceWorkload read(Path file, int limit, double stretch) throws IOException {
    if (!Files.isRegularFile(file)) {
      throw new IOException("no such file: " + file);
    }
    List<Row> rows = new ArrayList<>();
    try (BufferedReader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
      if (file.toString().toLowerCase(Locale.ROOT).endsWith(".csv")) {
        readCsv(reader, limit, rows);
      } else {
        readJsonLines(reader, limit, rows);
      }
    } catch (JacksonException | IllegalArgumentException | DateTimeException e) {
      throw new IOException(
          "%s: request %d is not one of this format (docs/benchmarks.md)"
              .formatted(file, rows.size() + 1),
          e);
    } catch (CharacterCodingException e) {
      throw new IOException(file + ": not UTF-8 text", e);
    }
    if (rows.isEmpty()) {
      throw new IOException(file + " holds no request");
    }
    return new TraceWorkload(rows, stretch);
  }

  private static void readJsonLines(BufferedReader reader, int limit, List<Row> rows)
      throws IOException {
    JsonMapper mapper = JsonMapper.builder().build();
    for (String line = reader.readLine();
        line != null && rows.size() < limit;
        line = reader.readLine()) {
      if (line.isBlank()) {
        continue;
      }
      JsonNode node = mapper.readTree(line);
      int input = Math.max(1, node.required("input_length").asInt());
      int output = Math.max(1, node.required("output_length").asInt());
      Prompt prompt = Prompt.empty();
      int left = input;
      for (JsonNode hash : node.required("hash_ids")) {
        if (left <= 0) {
          break;
        }
        int tokens = Math.min(BLOCK_TOKENS, left);
        prompt = prompt.plus(hash.asLong() + 1, tokens);
        left -= tokens;
      }
      long id = rows.size();
      if (left > 0) {
        prompt = prompt.plus((1L << 50) + id, left);
      }
      rows.add(
          new Row(
              node.required("timestamp").asLong(),
              new ReplayRequest(id, id, 0, prompt, output, (1L << 51) + id)));
    }
  }

  private static void readCsv(BufferedReader reader, int limit, List<Row> rows) throws IOException {
    reader.readLine();
    LocalDateTime first = null;
    for (String line = reader.readLine();
        line != null && rows.size() < limit;
        line = reader.readLine()) {
      if (line.isBlank()) {
        continue;
      }
      String[] fields = line.strip().split(",", -1);
      if (fields.length < 3) {
        throw new IllegalArgumentException(line);
      }
      LocalDateTime at = LocalDateTime.parse(fields[0].replace(' ', 'T'));
      if (first == null) {
        first = at;
      }
      long id = rows.size();
      Prompt prompt =
          Prompt.empty().plus((1L << 50) + id, Math.max(1, Integer.parseInt(fields[1])));
      int output = Math.max(1, Integer.parseInt(fields[2]));
      rows.add(
          new Row(
              Duration.between(first, at).toMillis(),
              new ReplayRequest(id, id, 0, prompt, output, (1L << 51) + id)));
    }
  }

  int requests() {
    return rows.size();
  }

  @Override
  public void start(Schedule schedule) {
    for (Row row : rows) {
      schedule.at((long) (row.atMillis() * stretch * NANOS_PER_MILLI), row.request());
    }
  }
}
