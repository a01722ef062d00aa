package dev.warmpath.extproc.label;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PiiClassifierTest {
  private static final String CARD = "4111 1111 1111 1111";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"messages\":[{\"role\":\"system\",\"content\":\"CARD\"},{\"role\":\"user\",\"content\":\"hi\"}]}",
        "{\"messages\":[{\"role\":\"developer\",\"content\":[{\"type\":\"text\",\"text\":\"CARD\"}]}]}",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"CARD\"},{\"role\":\"assistant\",\"content\":\"ok\"},{\"role\":\"user\",\"content\":\"go on\"}]}",
        "{\"messages\":[{\"role\":\"assistant\",\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"card\\\":\\\"CARD\\\"}\"}}]}]}",
        "{\"messages\":[{\"role\":\"tool\",\"content\":\"CARD\"}]}",
        "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"properties\":{\"a\":{\"description\":\"CARD\"}}}}}]}",
        "{\"tools\":[{\"function\":{\"parameters\":{\"properties\":{\"a\":{\"enum\":[\"x\",\"CARD\"]}}}}}]}",
        "{\"tools\":[{\"function\":{\"parameters\":{\"properties\":{\"CARD\":{\"type\":\"string\"}}}}}]}",
        "{\"metadata\":{\"note\":\"CARD\"},\"messages\":[]}",
        "{\"user\":\"CARD\",\"messages\":[]}",
        "{\"stop\":[\"CARD\"],\"prompt\":\"x\"}",
        "{\"response_format\":{\"json_schema\":{\"schema\":{\"default\":\"CARD\"}}}}",
        "{\"messages\":[{\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://x.example/?card=CARD\"}}]}]}",
        "{\"prompt\":[\"a\",\"CARD\"]}",
        "{\"input\":\"CARD\"}",
        "{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"CARD\"}]}],\"instructions\":\"x\"}",
        "{\"instructions\":\"CARD\",\"input\":\"x\"}",
        "{\"system\":[{\"type\":\"text\",\"text\":\"CARD\"}],\"messages\":[]}",
        "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"content\":[{\"type\":\"text\",\"text\":\"CARD\"}]}]}]}",
        "{\"messages\":[{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"input\":{\"n\":{\"m\":[\"CARD\"]}}}]}]}",
        "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"tool_use\",\"input\":{\"card\":4111111111111111}}]}]}",
        "CARD is not even JSON",
        "{\"unfinished\":\"CARD"
      })
  void readsEveryCarrier(String body) {
    Classifier.Verdict verdict = classify(body.replace("CARD", CARD));

    assertThat(verdict.value()).isEqualTo("present");
    assertThat(verdict.kinds()).contains("payment-card");
  }

  @ParameterizedTest
  @ValueSource(strings = {"\\n", "\\r\\n", " \\n", "\\n  ", "\\u0085", "\\u2028"})
  void findsNumbersThatGoOnInTheNextLine(String lineBreak) {
    for (String number : List.of("4111 1111 1111 1111", "3782-822463-10005")) {
      for (int i = 0; i < number.length(); i++) {
        if (!Character.isDigit(number.charAt(i))) {
          String wrapped = number.substring(0, i) + lineBreak + number.substring(i + 1);

          assertThat(classify("{\"prompt\":\"card: " + wrapped + ", thanks\"}").kinds())
              .as(wrapped)
              .contains("payment-card");
        }
      }
    }
    String iban = "DE89 3704 0044 0532 0130 00";
    for (int i = 4; i < iban.length(); i++) {
      if (iban.charAt(i) == ' ') {
        String wrapped = iban.substring(0, i) + lineBreak + iban.substring(i + 1);

        assertThat(classify("{\"prompt\":\"to " + wrapped + "\"}").kinds())
            .as(wrapped)
            .contains("iban");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "4111\\n1111\\n1111\\n1111",
        "1 4111 1111\\n1111 1111",
        "x4111 1111\\n1111 1111",
        "4111 1111\\n1111 1111x",
        "4111 1111\\n1111 1112"
      })
  void takesNoTableForAWrappedCard(String table) {
    assertThat(classify("{\"prompt\":\"" + table + "\"}").kinds()).doesNotContain("payment-card");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "card 378282246310005 AmEx in one piece | payment-card",
        "3782 822463 10005 | payment-card",
        "4111 1111 1111 1111 1227 123 | payment-card",
        "4111111111111111. | payment-card",
        "DE89 3704 0044 0532 0130 00 | iban",
        "de89370400440532013000 | iban",
        "GB82 WEST 1234 5698 7654 32 | iban",
        "078-05-1120 | us-ssn",
        "SSN: 078051120 | us-ssn",
        "write to jane.doe+x@example.co.uk. | email",
        "mailto:jane%40example.org | email",
        "call +49 30 901820 | phone",
        "+1 (650) 253-0000 | phone",
        "(650) 253-0000 | phone",
        "650.253.0000 | phone",
        "phone: 030 901820 | phone",
        "from 81.2.69.142 today | ip-address",
        "from 81.2.9.4 | ip-address",
        "IBAN: DE 89 3704 0044 0532 0130 00 | iban",
        "2a00:1450:4001:82f::200e | ip-address",
        "sk-proj-a1B2c3D4e5F6g7H8i9J0k1 | api-key",
        "sk-proj-abcdefghijklmnopqrstuvwxyzABCDEF0123 | api-key",
        "xoxb-840193746251-8401937462513-AbCdEfGhIjKl | api-key",
        "AKIAIOSFODNN7EXAMPLE | api-key",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a | api-key",
        "-----BEGIN RSA PRIVATE KEY----- | api-key",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w | api-key",
        "111.444.777-35 | national-id-br",
        "Steuer-ID 86095742719 | tax-id-de",
        "PESEL 44051401359 | national-id-pl",
        "BSN 111222333 | national-id-nl"
      })
  void findsWhatPeopleWrite(String text, String kind) {
    assertThat(
            classify("{\"messages\":[{\"role\":\"user\",\"content\":\"" + text + "\"}]}").kinds())
        .contains(kind);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "4111 1111 1111 1112",
        "3782 822463 10006",
        "DE89 3704 0044 0532 0130 01",
        "666-05-1120",
        "900-05-1120",
        "078-00-1120",
        "078-05-0000",
        "+999 123 4567890",
        "111.444.777-36",
        "PESEL 44051401358",
        "a@b",
        "someone @ example.org"
      })
  void aWrongCheckDigitOrRangeIsNothing(String text) {
    assertThat(
            classify("{\"messages\":[{\"role\":\"user\",\"content\":\"" + text + "\"}]}").value())
        .isEqualTo("absent");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"messages\":[{\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://x.example/a.png\"}}]}]}",
        "{\"messages\":[{\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,AAAA\"}}]}]}",
        "{\"messages\":[{\"content\":[{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"data\":\"AAAA\"}}]}]}",
        "{\"messages\":[{\"content\":[{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"AAAA\"}}]}]}",
        "{\"input\":[{\"content\":[{\"type\":\"input_file\",\"file_id\":\"f\"}]}]}",
        "{\"prompt\":[17,18,19]}",
        "{\"input\":[[17,18],[19]]}"
      })
  void whatCannotBeReadIsUnknown(String body) {
    assertThat(classify(body).value()).isNull();
    assertThat(classify(body).reason()).isNotEmpty();
  }

  @Test
  void whatIsCutOffIsUnknownUnlessSomethingWasFoundBefore() {
    String body = "{\"messages\":[{\"content\":\"" + "words ".repeat(50) + "\"}]}";
    String found = body.replace("words", CARD);

    assertThat(new PiiClassifier().classify(new RequestText(bytes(body), 100)).value()).isNull();
    assertThat(new PiiClassifier().classify(new RequestText(bytes(body), 1000)).value())
        .isEqualTo("absent");
    assertThat(new PiiClassifier().classify(new RequestText(bytes(found), 100)).value())
        .isEqualTo("present");
  }

  @Test
  void encodedDataIsUnknown() {
    String body = "{\"messages\":[{\"content\":\"" + "QUJD".repeat(200) + "\"}]}";

    assertThat(classify(body).value()).isNull();
  }

  @Test
  void aCardDeepInARowOfNumbersIsFound() {
    String row =
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 ";

    assertThat(classify("{\"content\":\"" + row + CARD + "\"}").kinds()).contains("payment-card");
  }

  @Test
  void anOwnNationalIdIsFound() {
    NationalId even =
        new NationalId(
            "badge", List.of("3-4"), List.of("badge"), (digits, from) -> digits[from + 6] % 2 == 0);
    PiiClassifier classifier = new PiiClassifier(List.of(even));

    assertThat(classifier.classify(new RequestText(bytes("{\"a\":\"badge 123-4568\"}"))).kinds())
        .containsExactly("badge");
    assertThat(classifier.classify(new RequestText(bytes("{\"a\":\"badge 123-4567\"}"))).kinds())
        .isEmpty();
    assertThat(classifier.classify(new RequestText(bytes("{\"a\":\"room 123-4568\"}"))).kinds())
        .isEmpty();
  }

  @Test
  void nothingMatchesAcrossTwoStrings() {
    assertThat(classify("{\"content\":[\"4111 1111\",\"1111 1111\"]}").value()).isEqualTo("absent");
  }

  private static Classifier.Verdict classify(String body) {
    return new PiiClassifier().classify(new RequestText(bytes(body)));
  }

  private static byte[] bytes(String body) {
    return body.getBytes(StandardCharsets.UTF_8);
  }
}
