package dev.warmpath.extproc.wire;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import java.io.IOException;
import java.io.InputStream;

/**
 * A message of Envoy's. Bodies, which are most of the bytes, are read straight into the one array
 * that the decision works on; a generated parser would copy them twice more. All else is small and
 * parsed as generated.
 */
public sealed interface EnvoyMessage {

  /** Headers, trailers and what comes with them. */
  record Head(ProcessingRequest request) implements EnvoyMessage {}

  /** All or a part of a body. The array belongs to the receiver. */
  @SuppressWarnings("ArrayRecordComponent") // wire bytes; never compared or hashed
  record Body(boolean ofResponse, byte[] bytes, boolean endOfStream) implements EnvoyMessage {}

  /**
   * Reads one serialized ProcessingRequest to the end of {@code in}, whose {@code available} must
   * tell how many bytes are left.
   */
  static EnvoyMessage parse(InputStream in) throws IOException {
    int first = in.read();
    if (first < 0) {
      return new Head(ProcessingRequest.getDefaultInstance());
    }
    // Fields come in the order of their numbers and a body's number is low, so it stands first.
    return switch (WireFormat.getTagFieldNumber(first)) {
      case ProcessingRequest.REQUEST_BODY_FIELD_NUMBER -> body(in, false);
      case ProcessingRequest.RESPONSE_BODY_FIELD_NUMBER -> body(in, true);
      default -> {
        byte[] message = new byte[1 + in.available()];
        message[0] = (byte) first;
        if (in.readNBytes(message, 1, message.length - 1) != message.length - 1) {
          throw new IOException("message is shorter than announced");
        }
        yield new Head(ProcessingRequest.parseFrom(message));
      }
    };
  }

  private static EnvoyMessage body(InputStream in, boolean ofResponse) throws IOException {
    CodedInputStream coded = CodedInputStream.newInstance(in);
    byte[] bytes = {};
    boolean endOfStream = false;
    int outer = coded.pushLimit(coded.readRawVarint32());
    for (int tag = coded.readTag(); tag != 0; tag = coded.readTag()) {
      switch (WireFormat.getTagFieldNumber(tag)) {
        case HttpBody.BODY_FIELD_NUMBER -> bytes = coded.readByteArray();
        case HttpBody.END_OF_STREAM_FIELD_NUMBER -> endOfStream = coded.readBool();
        default -> coded.skipField(tag);
      }
    }
    coded.popLimit(outer);
    // Metadata and attributes came with the headers.
    for (int tag = coded.readTag(); tag != 0; tag = coded.readTag()) {
      coded.skipField(tag);
    }
    return new Body(ofResponse, bytes, endOfStream);
  }
}
