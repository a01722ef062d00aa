package dev.warmpath.extproc.stream;

import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.extproc.wire.EnvoyMessage;
import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;

/**
 * Envoy's ExternalProcessor service: makes one {@link Exchange} for each stream. Built on calls
 * rather than on generated observers: the stream's role stands in its initial metadata, and the
 * request path stays free of a layer.
 */
public final class ExtProcService {
  private static final Metadata.Key<String> ROLE =
      Metadata.Key.of(GatewayNames.ROLE_KEY, Metadata.ASCII_STRING_MARSHALLER);

  private static final MethodDescriptor<EnvoyMessage, ProcessingResponse> METHOD =
      ExternalProcessorGrpc.getProcessMethod().toBuilder(
              new MessageReader(), ExternalProcessorGrpc.getProcessMethod().getResponseMarshaller())
          .build();

  private final StreamContext context;

  public ExtProcService(StreamContext context) {
    this.context = context;
  }

  public ServerServiceDefinition bind() {
    return ServerServiceDefinition.builder(ExternalProcessorGrpc.SERVICE_NAME)
        .addMethod(METHOD, this::open)
        .build();
  }

  private ServerCall.Listener<EnvoyMessage> open(
      ServerCall<EnvoyMessage, ProcessingResponse> call, Metadata headers) {
    Answers answers = new CallAnswers(call);
    String role = headers.get(ROLE);
    // Without our role the stream comes from another data plane.
    Exchange exchange =
        GatewayNames.ROLE_WATCH.equals(role)
            ? new WatchExchange(context, answers)
            : new DecideExchange(context, answers, !GatewayNames.ROLE_DECIDE.equals(role));
    // No back-pressure by counting messages: bodies are bounded by the budget.
    call.request(Integer.MAX_VALUE);
    return new Listener(exchange, answers);
  }

  private static final class CallAnswers implements Answers {
    private final ServerCall<EnvoyMessage, ProcessingResponse> call;
    private boolean headersSent;
    private boolean completed;

    CallAnswers(ServerCall<EnvoyMessage, ProcessingResponse> call) {
      this.call = call;
    }

    @Override
    public void send(ProcessingResponse answer) {
      if (completed || call.isCancelled()) {
        return;
      }
      sendHeaders();
      call.sendMessage(answer);
    }

    @Override
    public void complete() {
      if (completed || call.isCancelled()) {
        return;
      }
      completed = true;
      // Without an answer this is a single frame.
      call.close(Status.OK, new Metadata());
    }

    private void sendHeaders() {
      if (!headersSent) {
        headersSent = true;
        call.sendHeaders(new Metadata());
      }
    }
  }

  private static final class Listener extends ServerCall.Listener<EnvoyMessage> {
    private final Exchange exchange;
    private final Answers answers;

    Listener(Exchange exchange, Answers answers) {
      this.exchange = exchange;
      this.answers = answers;
    }

    @Override
    public void onMessage(EnvoyMessage message) {
      exchange.onMessage(message);
    }

    @Override
    public void onHalfClose() {
      exchange.onClosed();
      synchronized (exchange) {
        answers.complete();
      }
    }

    @Override
    public void onCancel() {
      exchange.onClosed();
    }
  }

  /** Only reads: this side never sends requests. */
  private static final class MessageReader implements MethodDescriptor.Marshaller<EnvoyMessage> {
    @Override
    public EnvoyMessage parse(InputStream in) {
      try {
        return EnvoyMessage.parse(in);
      } catch (IOException e) {
        throw Status.INTERNAL
            .withDescription("malformed ProcessingRequest")
            .withCause(e)
            .asRuntimeException();
      }
    }

    @Override
    public InputStream stream(EnvoyMessage message) {
      throw new UnsupportedOperationException("the processor only receives requests");
    }
  }
}
