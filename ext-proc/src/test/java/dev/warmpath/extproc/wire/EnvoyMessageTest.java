package dev.warmpath.extproc.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.Struct;
import com.google.protobuf.UnknownFieldSet;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EnvoyMessageTest {

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 127, 4_095, 4_097, 70_000, 3_000_000})
  void bodyOfAnySizeIsRead(int size) throws IOException {
    byte[] bytes = new byte[size];
    new Random(size).nextBytes(bytes);
    ProcessingRequest request =
        ProcessingRequest.newBuilder()
            .setRequestBody(
                HttpBody.newBuilder().setBody(ByteString.copyFrom(bytes)).setEndOfStream(true))
            .build();

    EnvoyMessage.Body body = (EnvoyMessage.Body) parse(request);

    assertThat(body.ofResponse()).isFalse();
    assertThat(body.endOfStream()).isTrue();
    assertThat(body.bytes()).isEqualTo(bytes);
  }

  @Test
  void whatComesWithABodyIsPassedOver() throws IOException {
    ProcessingRequest request =
        ProcessingRequest.newBuilder()
            .setResponseBody(
                HttpBody.newBuilder()
                    .setBody(ByteString.copyFromUtf8("x"))
                    .setUnknownFields(
                        UnknownFieldSet.newBuilder()
                            .addField(4, UnknownFieldSet.Field.newBuilder().addVarint(1).build())
                            .build()))
            .setMetadataContext(
                Metadata.newBuilder().putFilterMetadata("a", Struct.getDefaultInstance()))
            .setObservabilityMode(true)
            .build();

    EnvoyMessage.Body body = (EnvoyMessage.Body) parse(request);

    assertThat(body.ofResponse()).isTrue();
    assertThat(body.endOfStream()).isFalse();
    assertThat(body.bytes()).containsExactly('x');
  }

  @Test
  void headersAreParsedAsGenerated() throws IOException {
    ProcessingRequest request =
        ProcessingRequest.newBuilder()
            .setRequestHeaders(
                HttpHeaders.newBuilder()
                    .setHeaders(
                        HeaderMap.newBuilder()
                            .addHeaders(HeaderValue.newBuilder().setKey("k").setValue("v")))
                    .setEndOfStream(true))
            .build();

    assertThat(parse(request)).isEqualTo(new EnvoyMessage.Head(request));
    assertThat(parse(ProcessingRequest.getDefaultInstance()))
        .isEqualTo(new EnvoyMessage.Head(ProcessingRequest.getDefaultInstance()));
  }

  @Test
  void messageThatIsCutShortIsRefused() {
    byte[] whole =
        ProcessingRequest.newBuilder()
            .setRequestBody(HttpBody.newBuilder().setBody(ByteString.copyFrom(new byte[1000])))
            .build()
            .toByteArray();

    for (int length = 1; length < whole.length; length += 97) {
      ByteArrayInputStream cut = new ByteArrayInputStream(whole, 0, length);
      assertThatThrownBy(() -> EnvoyMessage.parse(cut)).isInstanceOf(IOException.class);
    }
  }

  private static EnvoyMessage parse(ProcessingRequest request) throws IOException {
    return EnvoyMessage.parse(new ByteArrayInputStream(request.toByteArray()));
  }
}
