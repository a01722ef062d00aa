package dev.warmpath.simulator.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The list holds for what a real vLLM 0.32.0 sent. */
class SampleConformanceTest {
  @TestFactory
  Stream<DynamicTest> everyCheckHoldsForItsSamples() {
    return WireChecks.of("tiny").stream()
        .flatMap(check ->
            check.samples().stream()
                .map(sample ->
                    DynamicTest.dynamicTest(
                        check.name() + ": " + sample,
                        () -> assertThat(check.problems(sample(sample))).isEmpty())));
  }

  @Test
  void metricsListHoldsForBothPages() throws IOException {
    assertThat(MetricsCheck.problems(sample("metrics_idle").body())).isEmpty();
    assertThat(MetricsCheck.problems(sample("metrics_busy_done").body())).isEmpty();
  }

  static WireResponse sample(String name) throws IOException {
    byte[] bytes;
    try (InputStream in =
        SampleConformanceTest.class.getResourceAsStream("/vllm-0.32.0/" + name + ".http")) {
      assertThat(in).as("sample %s", name).isNotNull();
      bytes = in.readAllBytes();
    }
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    int marker = text.indexOf("=====RESPONSE=====\n");
    String response = marker < 0 ? text : text.substring(marker + "=====RESPONSE=====\n".length());
    return WireResponse.read(
        new ByteArrayInputStream(response.getBytes(StandardCharsets.ISO_8859_1)), () -> 0);
  }
}
