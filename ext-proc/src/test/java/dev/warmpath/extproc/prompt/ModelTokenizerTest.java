package dev.warmpath.extproc.prompt;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.extproc.request.Operation;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** With a vocabulary of some words: 5 "hello", 6 "world", 7 "be", 8 "brief", 0 unknown. */
class ModelTokenizerTest {
  @Test
  void conversationsBecomeTheTokensOfTheirTemplate() throws Exception {
    try (ModelTokenizer tokenizer = ModelTokenizer.load(folder())) {
      assertThat(
              tokens(
                  tokenizer,
                  Operation.CHAT_COMPLETIONS,
                  "{\"messages\":[{\"role\":\"developer\",\"content\":\"Be brief\"},"
                      + "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hello\"},"
                      + "{\"type\":\"text\",\"text\":\"world\"}]}]}"))
          .containsExactly(3, 7, 8, 4, 1, 5, 6, 4, 2);
      assertThat(tokens(tokenizer, Operation.COMPLETIONS, "{\"prompt\":\"hello <|end|> world\"}"))
          .containsExactly(5, 4, 6);
      assertThat(tokens(tokenizer, Operation.COMPLETIONS, "{\"prompt\":[9,8,7]}"))
          .containsExactly(9, 8, 7);
    }
  }

  @Test
  void aSaltMakesAnotherChainOfTheSameTokens() throws Exception {
    try (ModelTokenizer tokenizer = ModelTokenizer.load(folder())) {
      String plain = "{\"prompt\":[1,2,3,4,5,6,7,8]}";
      String salted = "{\"prompt\":[1,2,3,4,5,6,7,8],\"cache_salt\":\"tenant-a\"}";

      TokenPrompt one = read(tokenizer, Operation.COMPLETIONS, plain);
      TokenPrompt other = read(tokenizer, Operation.COMPLETIONS, salted);

      assertThat(one.salted()).isFalse();
      assertThat(other.salted()).isTrue();
      assertThat(one.chain(4, 0)).hasSize(2).isNotEqualTo(other.chain(4, 0));
    }
  }

  @ParameterizedTest(name = "{1}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          CHAT_COMPLETIONS | {"messages":[{"role":"user","content":[{"type":"image_url"}]}]} | not text
          CHAT_COMPLETIONS | {"messages":[],"continue_final_message":true} | continue_final_message
          CHAT_COMPLETIONS | {"messages":[],"chat_template":"x"} | chat_template
          CHAT_COMPLETIONS | {"messages":[{"role":"assistant","content":"","tool_calls":[{"function":{"arguments":"{"}}]}]} | not JSON
          COMPLETIONS | {"prompt":["a","b"]} | several
          MESSAGES | {"messages":[]} | not read
          """)
  void whatCannotBeToldExactlySaysWhy(Operation operation, String body, String reason)
      throws Exception {
    try (ModelTokenizer tokenizer = ModelTokenizer.load(folder())) {
      ModelTokenizer.Result result = tokenizer.read(operation, body.getBytes(UTF_8));

      assertThat(result.prompt()).isNull();
      assertThat(result.reason()).contains(reason);
    }
  }

  @Test
  void aTemplateThatIsNotKnownIsRefusedWithItsReason(@TempDir Path other) throws Exception {
    Files.copy(folder().resolve("tokenizer.json"), other.resolve("tokenizer.json"));
    Files.writeString(other.resolve("chat_template.jinja"), "{% macro m() %}{% endmacro %}");

    assertThatThrownBy(() -> ModelTokenizer.load(other))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("'macro' is not supported");
    assertThatThrownBy(() -> ModelTokenizer.load(other.resolve("nowhere")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cannot be read");
  }

  private static int[] tokens(ModelTokenizer tokenizer, Operation operation, String body) {
    return read(tokenizer, operation, body).tokens();
  }

  private static TokenPrompt read(ModelTokenizer tokenizer, Operation operation, String body) {
    ModelTokenizer.Result result = tokenizer.read(operation, body.getBytes(UTF_8));
    assertThat(result.reason()).isEmpty();
    return Objects.requireNonNull(result.prompt());
  }

  private static Path folder() throws Exception {
    URL file = ModelTokenizerTest.class.getResource("/prompt/words/tokenizer.json");
    return Objects.requireNonNull(Path.of(Objects.requireNonNull(file).toURI()).getParent());
  }
}
