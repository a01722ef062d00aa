package dev.warmpath.crds.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.crds.config.RoutingConfigurationCodec.MalformedConfigurationException;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RoutingConfigurationCodecTest {
  @Test
  void anyConfigurationComesBackEqualAndWithTheSameBytes() throws Exception {
    for (long seed = 0; seed < 200; seed++) {
      RoutingConfiguration configuration =
          RandomRecords.of(RoutingConfiguration.class, new Random(seed));

      byte[] json = RoutingConfigurationCodec.toJson(configuration);
      RoutingConfiguration read = RoutingConfigurationCodec.fromJson(json);

      assertThat(read).as("seed %d", seed).isEqualTo(configuration);
      assertThat(RoutingConfigurationCodec.toJson(read)).as("seed %d", seed).isEqualTo(json);
    }
  }

  @Test
  void fieldsOfANewerReleaseAreIgnoredAndThoseOfAnOlderGetDefaults() throws Exception {
    String json =
        """
        {"future": {"a": 1},
         "pools": [{"id": {"namespace": "n", "name": "p", "generation": 2, "x": []},
                    "clusterName": "pool/n/p",
                    "spec": {"model": "m", "workerSets": [{"name": "w"}], "new": true}}]}
        """;

    RoutingConfiguration read = RoutingConfigurationCodec.fromJson(json.getBytes(UTF_8));

    assertThat(read.workerSets()).isEmpty();
    assertThat(read.tenants()).isEmpty();
    RoutingConfiguration.Pool pool = read.pools().getFirst();
    assertThat(pool.spec().objective().ttft()).hasSeconds(8);
    assertThat(pool.spec().limits().maxQueuedPromptsPerWorker()).isEqualTo(64);
    assertThat(pool.spec().tokenizer()).isNull();
  }

  @Test
  void whatIsNotAConfigurationIsRefusedWithAReason() {
    for (String json :
        new String[] {
          "",
          "[]",
          "{",
          "{\"pools\": 3}",
          "{\"pools\": [{\"spec\": {\"objective\": {\"ttft\": \"x\"}}}]}"
        }) {
      assertThatThrownBy(() -> RoutingConfigurationCodec.fromJson(json.getBytes(UTF_8)))
          .as(json)
          .isInstanceOf(MalformedConfigurationException.class)
          .hasMessageMatching("(?s).+");
    }
  }

  @Test
  void theVersionIsTheDigestOfTheBytes() {
    assertThat(RoutingConfigurationCodec.version("abc".getBytes(UTF_8)))
        .isEqualTo("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assertThat(RoutingConfigurationCodec.version(RoutingConfiguration.empty()))
        .isEqualTo(
            RoutingConfigurationCodec.version(
                RoutingConfigurationCodec.toJson(RoutingConfiguration.empty())));
  }
}
