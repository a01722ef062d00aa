package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.envoy.BootstrapOptions;
import dev.warmpath.extproc.ExtProcOptions;
import org.junit.jupiter.api.Test;

/** Names that two modules use and that no third one holds for both. */
class ContractsTest {

  @Test
  void envoy_looks_for_the_processor_where_it_listens() {
    assertThat(BootstrapOptions.PROCESSOR_SOCKET).isEqualTo(ExtProcOptions.SOCKET_NAME);
  }

  @Test
  void envoy_and_the_processor_agree_on_the_largest_body() {
    assertThat(BootstrapOptions.DEFAULT_BODY_LIMIT_BYTES)
        .isEqualTo(ExtProcOptions.DEFAULT_MAX_BODY_BYTES);
  }
}
