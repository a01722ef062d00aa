package dev.warmpath.extproc.wire;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption.HeaderAppendAction;

/** Single header mutations. */
final class Headers {
  private Headers() {}

  /**
   * Sets the header whatever was there. The value travels as {@code raw_value}: Envoy ignores the
   * other field in answers of processors.
   */
  static HeaderValueOption set(String name, String value) {
    return HeaderValueOption.newBuilder()
        .setHeader(
            HeaderValue.newBuilder().setKey(name).setRawValue(ByteString.copyFromUtf8(value)))
        .setAppendAction(HeaderAppendAction.OVERWRITE_IF_EXISTS_OR_ADD)
        .build();
  }
}
