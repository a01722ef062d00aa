package dev.warmpath.extproc.wire;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.envoyproxy.envoy.service.ext_proc.v3.BodyMutation;
import io.envoyproxy.envoy.service.ext_proc.v3.BodyResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.CommonResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.HeadersResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.StreamedBodyResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.TrailersResponse;
import java.util.ArrayList;
import java.util.List;

/** Lets a response pass, for data planes that send it through the deciding stream. */
public final class ResponseAnswers {
  public static final ProcessingResponse HEADERS =
      ProcessingResponse.newBuilder()
          .setResponseHeaders(HeadersResponse.newBuilder().setResponse(CommonResponse.newBuilder()))
          .build();
  public static final ProcessingResponse TRAILERS =
      ProcessingResponse.newBuilder()
          .setResponseTrailers(TrailersResponse.getDefaultInstance())
          .build();
  private static final ProcessingResponse BODY =
      ProcessingResponse.newBuilder()
          .setResponseBody(BodyResponse.newBuilder().setResponse(CommonResponse.newBuilder()))
          .build();

  private ResponseAnswers() {}

  public static List<ProcessingResponse> body(EnvoyMessage.Body body, BodyMode mode) {
    if (mode != BodyMode.FULL_DUPLEX) {
      return List.of(BODY);
    }
    ByteString bytes = UnsafeByteOperations.unsafeWrap(body.bytes());
    List<ProcessingResponse> answers = new ArrayList<>(1);
    int position = 0;
    do {
      int end = Math.min(bytes.size(), position + RoutedAnswers.MAX_CHUNK_BYTES);
      answers.add(echo(bytes.substring(position, end), body.endOfStream() && end == bytes.size()));
      position = end;
    } while (position < bytes.size());
    return answers;
  }

  private static ProcessingResponse echo(ByteString chunk, boolean endOfStream) {
    return ProcessingResponse.newBuilder()
        .setResponseBody(
            BodyResponse.newBuilder()
                .setResponse(
                    CommonResponse.newBuilder()
                        .setBodyMutation(
                            BodyMutation.newBuilder()
                                .setStreamedResponse(
                                    StreamedBodyResponse.newBuilder()
                                        .setBody(chunk)
                                        .setEndOfStream(endOfStream)))))
        .build();
  }
}
