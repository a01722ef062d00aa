package dev.warmpath.extproc.prompt;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.extproc.request.Operation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

/** Texts are cut only where their tokens do not depend on it. */
class CutsTest {
  private static final String TEMPLATE =
      "{% for m in messages %}<|start|>{{ m.role }}\n{{ m.content }}<|end|>\n{% endfor %}<|start|>assistant\n";

  /** Parts that a tokenizer of bytes, with merges over letters, blanks and line ends, joins. */
  private static final List<String> PARTS =
      List.of(
          "a",
          "b",
          "c",
          "ab",
          "abc",
          " ",
          "  ",
          "\n",
          "\n\n",
          "e\u0301",
          "\u00e9",
          "\u0301",
          "<|start|>",
          "<|end|>",
          "<|start",
          "|>",
          "<",
          "<|",
          "|start|>",
          "<|start|><|start|>",
          "<|end|>\n<|start|>",
          "<pad>");

  private static final String BYTE_PAIRS =
      """
      {"version":"1.0","truncation":null,"padding":null,
       "added_tokens":[
        {"id":900,"content":"<|start|>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true},
        {"id":901,"content":"<|end|>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true},
        {"id":902,"content":"<pad>","single_word":false,"lstrip":true,"rstrip":true,"normalized":true,"special":false}],
       "normalizer":{"type":"NFC"},
       "pre_tokenizer":{"type":"Sequence","pretokenizers":[
        {"type":"Split","pattern":{"Regex":" ?\\\\p{L}+| ?[^\\\\s\\\\p{L}]+[\\\\n]*|\\\\s*[\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"},"behavior":"Isolated","invert":false},
        {"type":"ByteLevel","add_prefix_space":false,"trim_offsets":false,"use_regex":false}]},
       "post_processor":null,"decoder":null,
       "model":{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":"","end_of_word_suffix":"",
        "fuse_unk":false,"byte_fallback":false,"ignore_merges":false,
        "vocab":{"a":0,"b":1,"c":2,"e":3,"s":4,"t":5,"r":6,"n":7,"d":8,"<":9,"|":10,">":11,"\u0120":12,"\u010a":13,
         "\u00c3":14,"\u00a9":15,"\u00cc":16,"\u0123":17,"u":18,"i":19,"p":20,"x":21,
         "ab":30,"abc":31,"\u0120a":32,"\u0120ab":33,"\u0120\u0120":34,"\u010a\u010a":35,"\u00c3\u00a9":36,"aa":37,"<|":38,"|>":39,">\u010a":40},
        "merges":["a b","ab c","\u0120 a","\u0120a b","\u0120 \u0120","\u010a \u010a","\u00c3 \u00a9","a a","< |","| >","> \u010a"]}}
      """;

  private static Path folder(Path folder, String tokenizer) throws IOException {
    Files.writeString(folder.resolve("tokenizer.json"), tokenizer);
    Files.writeString(folder.resolve("chat_template.jinja"), TEMPLATE);
    return folder;
  }

  private static int[] tokens(ModelTokenizer tokenizer, String text, boolean whole) {
    String body =
        JsonMapper.shared()
            .createObjectNode()
            .put("prompt", text)
            .put("add_special_tokens", whole) // with them a text is never cut; here there are none
            .toString();
    ModelTokenizer.Result result = tokenizer.read(Operation.COMPLETIONS, body.getBytes(UTF_8));
    assertThat(result.reason()).isEmpty();
    return Objects.requireNonNull(result.prompt()).tokens();
  }

  private static String text(SplittableRandom random, int parts) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < parts; i++) {
      text.append(PARTS.get(random.nextInt(PARTS.size())));
    }
    return text.toString();
  }

  @Test
  void piecesHaveTheTokensOfTheWhole(@TempDir Path folder) throws Exception {
    try (ModelTokenizer tokenizer = ModelTokenizer.load(folder(folder, BYTE_PAIRS))) {
      SplittableRandom random = new SplittableRandom(3);
      String known = "<|start|>a" + text(random, 300);
      for (int i = 0; i < 3_000; i++) {
        // Long pieces are remembered, short ones are not; both are mixed, and come again.
        String text =
            switch (random.nextInt(3)) {
              case 0 -> text(random, 1 + random.nextInt(40));
              case 1 -> known + text(random, random.nextInt(20));
              default ->
                  text(random, 5) + "<|start|>" + "ab c".repeat(70) + text(random, 8) + known;
            };
        assertThat(tokens(tokenizer, text, false))
            .as(text)
            .isEqualTo(tokens(tokenizer, text, true));
      }
    }
  }

  @Test
  void messagesAreCutApart(@TempDir Path folder) throws Exception {
    folder(folder, BYTE_PAIRS);
    Cuts cuts = Cuts.read(folder.resolve("tokenizer.json"), TEMPLATE);

    assertThat(cuts.of("<|start|>user\nhi<|end|>\n<|start|>assistant\n"))
        .containsExactly("<|start|>user\nhi<|end|>\n", "<|start|>assistant\n");
    assertThat(cuts.of("no token")).containsExactly("no token");
    assertThat(cuts.of("")).containsExactly("");
  }

  @ParameterizedTest(name = "{0} -> {1}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          "NFC"                                | "Precompiled"
          "ByteLevel","add_prefix_space":false | "ByteLevel","add_prefix_space":true
          {"type":"Split"                      | {"type":"Metaspace"
          "type":"BPE"                         | "type":"Unigram"
          "dropout":null                       | "dropout":0.1
          <pad>                                | >pad<
          """)
  void whatIsNotKnownToBeLocalIsNotCut(String from, String to, @TempDir Path folder)
      throws Exception {
    assertThat(BYTE_PAIRS).contains(from);
    folder(folder, BYTE_PAIRS.replace(from, to));

    Cuts cuts = Cuts.read(folder.resolve("tokenizer.json"), TEMPLATE);

    assertThat(cuts.of("<|start|>a<|end|><|start|>b")).hasSize(1);
  }

  @Test
  void whatWasSeenIsNotTokenisedAgainAndMemoryIsBounded() {
    PieceCache cache = new PieceCache(100_000);
    AtomicInteger calls = new AtomicInteger();
    String system = "s".repeat(1_000);
    for (int i = 0; i < 1_000; i++) {
      String question = i + "q".repeat(500);
      int[] ids =
          cache.tokens(
              List.of(system, "|", question, "."),
              piece -> {
                calls.incrementAndGet();
                return piece.chars().toArray();
              });
      assertThat(ids).isEqualTo((system + "|" + question + ".").chars().toArray());
    }

    assertThat(calls.get()).as("the system prompt once, or a few times").isLessThan(3_100);
    assertThat(cache.size()).isLessThanOrEqualTo(100);
  }
}
