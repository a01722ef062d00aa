package dev.warmpath.xds.serve;

import dev.warmpath.crds.transport.TokenFile;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;

/** Refuses streams that do not show a token of the file, before any service sees them. */
final class TokenCheck implements ServerInterceptor {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private final TokenFile tokens;
  private final Refusals refusals;

  TokenCheck(TokenFile tokens, Refusals refusals) {
    this.tokens = tokens;
    this.refusals = refusals;
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    String shown = headers.get(AUTHORIZATION);
    if (tokens.accepts(shown)) {
      return next.startCall(call, headers);
    }
    String reason = shown == null ? "no token was shown" : "the token is not one of the token file";
    refusals.token(reason);
    call.close(Status.UNAUTHENTICATED.withDescription(reason), new Metadata());
    return new ServerCall.Listener<>() {};
  }
}
