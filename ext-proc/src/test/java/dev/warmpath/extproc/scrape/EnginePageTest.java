package dev.warmpath.extproc.scrape;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.v1alpha1.WorkerSetSpec.Engine;
import java.io.IOException;
import java.io.InputStream;
import org.junit.jupiter.api.Test;

class EnginePageTest {

  @Test
  void pageOfARealWorkerIsRead() throws IOException {
    EnginePage page = vllm(resource("vllm-0.32.txt"), "tiny");

    assertThat(page.running()).isZero();
    assertThat(page.waiting()).isZero();
    assertThat(page.kvCacheUsedRatio()).isZero();
    assertThat(page.kvCacheTokens()).isEqualTo(2_097_152);
    assertThat(page.blockTokens()).isEqualTo(32);
    assertThat(page.prefillSecondsTotal()).isEqualTo(1.5196562079995601);
    assertThat(page.prefillTokensTotal()).isEqualTo(3084);
    assertThat(page.promptTokensTotal()).isEqualTo(8300);
    assertThat(page.processStartSeconds()).isEqualTo(1.79596701604e9);
  }

  @Test
  void missingMetricIsUnknownNotZero() {
    EnginePage page = vllm("vllm:num_requests_running 3\n", "m");

    assertThat(page.running()).isEqualTo(3);
    assertThat(page.waiting()).isNaN();
    assertThat(page.kvCacheUsedRatio()).isNaN();
    assertThat(page.kvCacheTokens()).isNaN();
    assertThat(page.prefillTokensTotal()).isNaN();
    assertThat(page.processStartSeconds()).isNaN();
  }

  @Test
  void namesAreMatchedExactly() {
    EnginePage page =
        vllm(
            """
            vllm:num_requests_waiting_by_reason{reason="capacity"} 7
            vllm:num_requests_waiting{engine="0"} 2
            vllm:num_requests_waiting_by_reason{reason="deferred"} 7
            """,
            "m");

    assertThat(page.waiting()).isEqualTo(2);
  }

  @Test
  void newNameWinsOverTheOldOneInEitherOrder() {
    String old = "vllm:gpu_cache_usage_perc 0.9\n";
    String fresh = "vllm:kv_cache_usage_perc 0.25\n";

    assertThat(vllm(old + fresh, "m").kvCacheUsedRatio()).isEqualTo(0.25);
    assertThat(vllm(fresh + old, "m").kvCacheUsedRatio()).isEqualTo(0.25);
    assertThat(vllm(old, "m").kvCacheUsedRatio()).isEqualTo(0.9);
  }

  @Test
  void enginesOfOneWorkerAreSummedAndOtherModelsDropped() {
    String text =
        """
        vllm:num_requests_running{engine="0",model_name="other"} 40
        vllm:num_requests_running{engine="0",model_name="mine"} 1
        vllm:num_requests_running{engine="1",model_name="mine"} 2
        vllm:num_requests_running{engine="1",model_name="other"} 40
        vllm:kv_cache_usage_perc{engine="0",model_name="mine"} 0.2
        vllm:kv_cache_usage_perc{engine="1",model_name="mine"} 0.4
        """;

    assertThat(vllm(text, "mine").running()).isEqualTo(3);
    assertThat(vllm(text, "mine").kvCacheUsedRatio()).isBetween(0.299, 0.301);
    assertThat(vllm(text, "unheard").running()).isEqualTo(83);
  }

  @Test
  void capacityOfOlderEnginesIsBlocksTimesSize() {
    EnginePage page =
        vllm(
            "vllm:cache_config_info{block_size=\"16\",cache_dtype=\"a,}\\\"b\","
                + "num_gpu_blocks=\"100\"} 1.0\n",
            "m");

    assertThat(page.kvCacheTokens()).isEqualTo(1600);
    assertThat(page.blockTokens()).isEqualTo(16);
  }

  @Test
  void capacityThatIsNoneIsUnknown() {
    EnginePage page =
        vllm("vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"None\"} 1.0\n", "m");

    assertThat(page.kvCacheTokens()).isNaN();
  }

  @Test
  void computedTokensOfOlderEnginesAreThoseNotCached() {
    EnginePage page =
        vllm("vllm:prompt_tokens_total 10e2\nvllm:gpu_prefix_cache_hits_total 400\n", "m");

    assertThat(page.prefillTokensTotal()).isEqualTo(600);
  }

  @Test
  void otherEngineHasOtherNames() {
    EnginePage page =
        EnginePage.read(
            """
            sglang:num_running_reqs{model_name="m"} 5
            sglang:num_queue_reqs{model_name="m"} 4
            sglang:token_usage{model_name="m"} 0.28
            sglang:max_total_num_tokens{model_name="m"} 120000
            """
                .getBytes(UTF_8),
            requireNonNull(EngineNames.of(Engine.SGLang)),
            "m");

    assertThat(page.running()).isEqualTo(5);
    assertThat(page.waiting()).isEqualTo(4);
    assertThat(page.kvCacheUsedRatio()).isEqualTo(0.28);
    assertThat(page.kvCacheTokens()).isEqualTo(120_000);
  }

  @Test
  void brokenLinesArePassedOver() {
    EnginePage page =
        vllm(
            """
            garbage
            vllm:num_requests_running{engine="0
            vllm:num_requests_running{engine="0"}
            vllm:num_requests_running{engine="0"} x
            vllm:num_requests_running{} NaN
              vllm:num_requests_running 6 1795967333
            vllm:num_requests_waiting 1\
            """,
            "m");

    assertThat(page.running()).isEqualTo(6);
    assertThat(page.waiting()).isEqualTo(1);
  }

  private static EnginePage vllm(String text, String model) {
    return EnginePage.read(
        text.getBytes(UTF_8), requireNonNull(EngineNames.of(Engine.vLLM)), model);
  }

  private static String resource(String name) throws IOException {
    try (InputStream in = requireNonNull(EnginePageTest.class.getResourceAsStream(name))) {
      return new String(in.readAllBytes(), UTF_8);
    }
  }
}
