package dev.warmpath.extproc.wire;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.extproc.route.ApiError;
import dev.warmpath.extproc.route.Decision;
import dev.warmpath.extproc.route.RequestHead;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption;
import io.envoyproxy.envoy.service.ext_proc.v3.HeaderMutation;
import io.envoyproxy.envoy.service.ext_proc.v3.ImmediateResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.type.v3.HttpStatus;

/**
 * Replies that the gateway writes itself. Their details start with {@link
 * GatewayNames#REPLY_DETAILS_PREFIX}, so that Envoy's mapping of local replies leaves them alone.
 */
public final class ImmediateReplies {
  private static final HeaderValueOption JSON = Headers.set("content-type", "application/json");
  private static final HeaderValueOption NO_RETRY =
      Headers.set(GatewayNames.SHOULD_RETRY_HEADER, "false");

  private ImmediateReplies() {}

  public static ProcessingResponse answered(RequestHead head, Decision.Answered answer) {
    HeaderMutation.Builder headers = HeaderMutation.newBuilder();
    headers.addSetHeaders(
        answer.contentType().equals("application/json")
            ? JSON
            : Headers.set("content-type", answer.contentType()));
    identify(headers, head);
    return reply(
        head, answer.status(), headers, UnsafeByteOperations.unsafeWrap(answer.body()), "answered");
  }

  public static ProcessingResponse error(RequestHead head, ApiError error) {
    HeaderMutation.Builder headers = HeaderMutation.newBuilder().addSetHeaders(JSON);
    identify(headers, head);
    error.headers().forEach((name, value) -> headers.addSetHeaders(Headers.set(name, value)));
    if (error.retryAfterSeconds() > 0) {
      headers.addSetHeaders(
          Headers.set(
              GatewayNames.RETRY_AFTER_HEADER, Integer.toString(error.retryAfterSeconds())));
    }
    if (!error.shouldRetry()) {
      headers.addSetHeaders(NO_RETRY);
    }
    return reply(
        head,
        error.status(),
        headers,
        ByteString.copyFromUtf8(ErrorBodies.render(error, head.requestId())),
        error.code());
  }

  /** OpenAI's SDKs read {@code x-request-id}, Anthropic's read {@code request-id}. */
  private static void identify(HeaderMutation.Builder headers, RequestHead head) {
    if (!head.requestId().isEmpty()) {
      headers.addSetHeaders(Headers.set(GatewayNames.REQUEST_ID_HEADER, head.requestId()));
      headers.addSetHeaders(
          Headers.set(GatewayNames.ANTHROPIC_REQUEST_ID_HEADER, head.requestId()));
    }
    headers.addSetHeaders(Headers.set(GatewayNames.DECISION_HEADER, head.decisionId()));
  }

  private static ProcessingResponse reply(
      RequestHead head,
      int status,
      HeaderMutation.Builder headers,
      ByteString body,
      String detail) {
    return ProcessingResponse.newBuilder()
        .setImmediateResponse(
            ImmediateResponse.newBuilder()
                .setStatus(HttpStatus.newBuilder().setCodeValue(status))
                .setHeaders(headers)
                .setBody(body)
                .setDetails(GatewayNames.REPLY_DETAILS_PREFIX + detail))
        .setDynamicMetadata(Metadata.ofDecision(head.decisionId()))
        .build();
  }
}
