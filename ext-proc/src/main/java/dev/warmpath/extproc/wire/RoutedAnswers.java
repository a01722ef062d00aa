package dev.warmpath.extproc.wire;

import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.extproc.route.BodyForm;
import dev.warmpath.extproc.route.Decision;
import dev.warmpath.extproc.route.RequestHead;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption;
import io.envoyproxy.envoy.service.ext_proc.v3.BodyMutation;
import io.envoyproxy.envoy.service.ext_proc.v3.BodyResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.CommonResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.HeaderMutation;
import io.envoyproxy.envoy.service.ext_proc.v3.HeadersResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.StreamedBodyResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.TrailersResponse;
import java.util.ArrayList;
import java.util.List;

/** The messages that carry a routed decision back to Envoy, for each {@link BodyMode}. */
public final class RoutedAnswers {
  /**
   * Largest chunk of a body that goes back in FULL_DUPLEX. Larger messages are refused by some data
   * planes.
   */
  static final int MAX_CHUNK_BYTES = 64_000;

  private static final HeaderValueOption ROUTE_BY_CLUSTER =
      Headers.set(GatewayNames.ROUTE_HEADER, GatewayNames.ROUTE_CLUSTER);
  private static final HeaderValueOption ROUTE_BY_PLAN =
      Headers.set(GatewayNames.ROUTE_HEADER, GatewayNames.ROUTE_PLAN);
  private static final HeaderValueOption JSON = Headers.set("content-type", BodyForm.JSON);

  private static final ProcessingResponse BODY_CONTINUE =
      ProcessingResponse.newBuilder()
          .setRequestBody(BodyResponse.newBuilder().setResponse(CommonResponse.newBuilder()))
          .build();
  private static final ProcessingResponse BODY_DROPPED =
      bodyMutation(BodyMutation.newBuilder().setClearBody(true));

  /** Answers request trailers. */
  public static final ProcessingResponse TRAILERS =
      ProcessingResponse.newBuilder()
          .setRequestTrailers(TrailersResponse.getDefaultInstance())
          .build();

  private RoutedAnswers() {}

  /** Answers the headers of a request whose body is wanted. */
  public static ProcessingResponse needBody(RequestHead head) {
    return ProcessingResponse.newBuilder()
        .setRequestHeaders(HeadersResponse.newBuilder().setResponse(CommonResponse.newBuilder()))
        .setDynamicMetadata(Metadata.ofDecision(head.decisionId()))
        .build();
  }

  /** Asks for more time for the message that is being worked on; Envoy heeds it once a message. */
  public static ProcessingResponse moreTime(long nanos) {
    return ProcessingResponse.newBuilder()
        .setOverrideMessageTimeout(
            Duration.newBuilder()
                .setSeconds(nanos / 1_000_000_000L)
                .setNanos((int) (nanos % 1_000_000_000L)))
        .build();
  }

  /** Answers the header message of a request without body. */
  public static ProcessingResponse forHeaders(
      RequestHead head, Decision.Routed routed, boolean foreign) {
    return ProcessingResponse.newBuilder()
        .setRequestHeaders(
            HeadersResponse.newBuilder()
                .setResponse(
                    CommonResponse.newBuilder()
                        .setHeaderMutation(mutations(head, routed, foreign))
                        .setClearRouteCache(true)))
        .setDynamicMetadata(Metadata.ofRouted(head.decisionId(), routed))
        .build();
  }

  /** Answers the one body message of BUFFERED. */
  public static ProcessingResponse forBufferedBody(
      RequestHead head, Decision.Routed routed, byte[] body, boolean foreign) {
    HeaderMutation.Builder headers = mutations(head, routed, foreign);
    CommonResponse.Builder common = CommonResponse.newBuilder().setClearRouteCache(true);
    if (!routed.edits().isEmpty()) {
      ByteString edited = EditedBody.apply(body, routed.edits());
      // Without a matching length Envoy refuses the mutation.
      headers.addSetHeaders(Headers.set("content-length", Integer.toString(edited.size())));
      common.setBodyMutation(BodyMutation.newBuilder().setBody(edited));
    }
    return ProcessingResponse.newBuilder()
        .setRequestBody(BodyResponse.newBuilder().setResponse(common.setHeaderMutation(headers)))
        .setDynamicMetadata(Metadata.ofRouted(head.decisionId(), routed))
        .build();
  }

  /**
   * Answers headers and body together, where the headers' answer was kept back.
   *
   * @param chunks body messages received, each of which STREAMED_AHEAD wants answered
   * @param trailers a trailers message ended the body
   */
  public static List<ProcessingResponse> forStreamedBody(
      RequestHead head,
      Decision.Routed routed,
      byte[] body,
      BodyMode mode,
      int chunks,
      boolean trailers,
      boolean foreign) {
    ByteString edited = EditedBody.apply(body, routed.edits());
    List<ProcessingResponse> answers = new ArrayList<>();
    ProcessingResponse.Builder headers = forHeaders(head, routed, foreign).toBuilder();
    if (!routed.edits().isEmpty()) {
      headers
          .getRequestHeadersBuilder()
          .getResponseBuilder()
          .getHeaderMutationBuilder()
          .addSetHeaders(Headers.set("content-length", Integer.toString(edited.size())));
    }
    answers.add(headers.build());
    if (mode == BodyMode.FULL_DUPLEX) {
      addChunks(answers, edited, !trailers);
    } else {
      addAcknowledgements(answers, edited, chunks, !routed.edits().isEmpty());
    }
    if (trailers) {
      answers.add(TRAILERS);
    }
    return answers;
  }

  private static void addChunks(
      List<ProcessingResponse> answers, ByteString body, boolean endOfStream) {
    int position = 0;
    do {
      int end = Math.min(body.size(), position + MAX_CHUNK_BYTES);
      answers.add(
          bodyMutation(
              BodyMutation.newBuilder()
                  .setStreamedResponse(
                      StreamedBodyResponse.newBuilder()
                          .setBody(body.substring(position, end))
                          .setEndOfStream(endOfStream && end == body.size()))));
      position = end;
    } while (position < body.size());
  }

  /** An edited body replaces the first chunk; the others vanish. */
  private static void addAcknowledgements(
      List<ProcessingResponse> answers, ByteString body, int chunks, boolean edited) {
    for (int i = 0; i < chunks; i++) {
      if (!edited) {
        answers.add(BODY_CONTINUE);
      } else if (i == 0) {
        answers.add(bodyMutation(BodyMutation.newBuilder().setBody(body)));
      } else {
        answers.add(BODY_DROPPED);
      }
    }
  }

  private static ProcessingResponse bodyMutation(BodyMutation.Builder mutation) {
    return ProcessingResponse.newBuilder()
        .setRequestBody(
            BodyResponse.newBuilder()
                .setResponse(CommonResponse.newBuilder().setBodyMutation(mutation)))
        .build();
  }

  private static HeaderMutation.Builder mutations(
      RequestHead head, Decision.Routed routed, boolean foreign) {
    HeaderMutation.Builder headers = HeaderMutation.newBuilder();
    // What a tenant told the gateway about its prompt is not for upstreams.
    headers.addRemoveHeaders(GatewayNames.LABELS_HEADER);
    if (routed.clusters().size() == 1) {
      headers
          .addSetHeaders(Headers.set(GatewayNames.CLUSTER_HEADER, routed.clusters().getFirst()))
          .addSetHeaders(ROUTE_BY_CLUSTER);
    } else {
      headers.addSetHeaders(ROUTE_BY_PLAN);
    }
    if (!BodyForm.isNamedJson(head)) {
      // It was read as JSON all the same; an engine would refuse it for its name.
      headers.addSetHeaders(JSON);
    }
    if (head.route() != null) {
      headers.addSetHeaders(
          Headers.set(
              ":path", head.query().isEmpty() ? head.path() : head.path() + "?" + head.query()));
    }
    // The endpoint picker protocol wants the list in a header as well; our own Envoy trusts
    // metadata only, and lets no client send this header.
    if (foreign && routed.destinations().isEmpty()) {
      headers.addRemoveHeaders(GatewayNames.DESTINATION_KEY);
    } else if (foreign) {
      headers.addSetHeaders(
          Headers.set(GatewayNames.DESTINATION_KEY, Metadata.destinations(routed)));
    }
    return headers;
  }
}
