package dev.warmpath.envoy;

import com.google.protobuf.ByteString;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.warmpath.crds.config.GatewayNames;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.service.accesslog.v3.AccessLogServiceGrpc;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.BodyResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.CommonResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc;
import io.envoyproxy.envoy.service.ext_proc.v3.HeaderMutation;
import io.envoyproxy.envoy.service.ext_proc.v3.HeadersResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ImmediateResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.type.v3.HttpStatus;
import io.envoyproxy.envoy.type.v3.StatusCode;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A processor that answers as a test wants, and keeps what Envoy shows it: heads, bodies, watched
 * responses, access log entries.
 */
final class FakeProcessor implements AutoCloseable {

  /** A request as the deciding stream showed it. */
  @SuppressWarnings("ArrayRecordComponent") // wire bytes; never compared
  record Seen(String decisionId, Map<String, String> headers, byte[] body) {}

  /** What to do with a request. */
  record Answer(
      @Nullable String cluster,
      List<List<String>> plan,
      String destinations,
      boolean strip,
      @Nullable ImmediateResponse immediate,
      boolean silent) {

    static Answer cluster(String name) {
      return new Answer(name, List.of(), "", false, null, false);
    }

    static Answer plan(String... clusters) {
      return new Answer(
          null, List.of(clusters).stream().map(List::of).toList(), "", false, null, false);
    }

    static Answer reply(int status, String details, String body) {
      return new Answer(
          null,
          List.of(),
          "",
          false,
          ImmediateResponse.newBuilder()
              .setStatus(HttpStatus.newBuilder().setCode(StatusCode.forNumber(status)))
              .setDetails(details)
              .setBody(ByteString.copyFromUtf8(body))
              .setHeaders(
                  HeaderMutation.newBuilder()
                      .addSetHeaders(set("content-type", "application/json"))
                      .addSetHeaders(set("retry-after", "3"))
                      .addSetHeaders(set("allow", "POST"))
                      .addSetHeaders(set("accept-encoding", "identity"))
                      .addSetHeaders(set("x-should-retry", "false")))
              .build(),
          false);
    }

    static Answer never() {
      return new Answer(null, List.of(), "", false, null, true);
    }

    Answer destinations(String list) {
      return new Answer(cluster, plan, list, strip, immediate, silent);
    }

    Answer stripped() {
      return new Answer(cluster, plan, destinations, true, immediate, silent);
    }
  }

  private static final Context.Key<String> ROLE = Context.key("role");

  private final Server server;
  private final AtomicInteger ids = new AtomicInteger();
  private final List<Seen> seen = new CopyOnWriteArrayList<>();
  private final List<ProcessingRequest> watched = new CopyOnWriteArrayList<>();
  private final List<HTTPAccessLogEntry> log = new CopyOnWriteArrayList<>();
  private final HealthStatusManager health = new HealthStatusManager();
  private volatile Function<Seen, Answer> decision;

  FakeProcessor(int port, Function<Seen, Answer> decision) throws IOException {
    this.decision = decision;
    this.server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
            .maxInboundMessageSize(80 << 20)
            .flowControlWindow(16 << 20)
            .addService(new Decide())
            .addService(new Log())
            .addService(health.getHealthService())
            .intercept(new RoleInterceptor())
            .build()
            .start();
  }

  int port() {
    return server.getPort();
  }

  void decision(Function<Seen, Answer> value) {
    decision = value;
  }

  /** What it says of itself; it decides in any case. */
  void ready(boolean value) {
    health.setStatus("", value ? ServingStatus.SERVING : ServingStatus.NOT_SERVING);
  }

  List<Seen> seen() {
    return seen;
  }

  List<ProcessingRequest> watched() {
    return watched;
  }

  List<HTTPAccessLogEntry> log() {
    return log;
  }

  @Override
  public void close() {
    server.shutdownNow();
  }

  private static HeaderValueOption set(String name, String value) {
    return HeaderValueOption.newBuilder()
        .setHeader(
            HeaderValue.newBuilder().setKey(name).setRawValue(ByteString.copyFromUtf8(value)))
        .setAppendAction(HeaderValueOption.HeaderAppendAction.OVERWRITE_IF_EXISTS_OR_ADD)
        .build();
  }

  private static Value text(String value) {
    return Value.newBuilder().setStringValue(value).build();
  }

  private static Value struct(String key, Value value) {
    return Value.newBuilder().setStructValue(Struct.newBuilder().putFields(key, value)).build();
  }

  private static final class RoleInterceptor implements ServerInterceptor {
    @Override
    public <A, B> ServerCall.Listener<A> interceptCall(
        ServerCall<A, B> call, Metadata headers, ServerCallHandler<A, B> next) {
      String role =
          Objects.requireNonNullElse(
              headers.get(Metadata.Key.of(GatewayNames.ROLE_KEY, Metadata.ASCII_STRING_MARSHALLER)),
              "");
      return Contexts.interceptCall(Context.current().withValue(ROLE, role), call, headers, next);
    }
  }

  private final class Decide extends ExternalProcessorGrpc.ExternalProcessorImplBase {
    @Override
    public StreamObserver<ProcessingRequest> process(StreamObserver<ProcessingResponse> out) {
      return GatewayNames.ROLE_DECIDE.equals(ROLE.get()) ? new Deciding(out) : new Watching();
    }
  }

  private final class Watching implements StreamObserver<ProcessingRequest> {
    @Override
    public void onNext(ProcessingRequest request) {
      watched.add(request);
    }

    @Override
    public void onError(Throwable t) {}

    @Override
    public void onCompleted() {}
  }

  private final class Deciding implements StreamObserver<ProcessingRequest> {
    private final StreamObserver<ProcessingResponse> out;
    private final String id = "d" + ids.incrementAndGet();
    private final Map<String, String> headers = new HashMap<>();

    Deciding(StreamObserver<ProcessingResponse> out) {
      this.out = out;
    }

    @Override
    public void onNext(ProcessingRequest request) {
      if (request.hasRequestHeaders()) {
        HeaderMap map = request.getRequestHeaders().getHeaders();
        map.getHeadersList().forEach(h -> headers.put(h.getKey(), h.getRawValue().toStringUtf8()));
        if (request.getRequestHeaders().getEndOfStream()) {
          decide(new byte[0], false);
        } else {
          out.onNext(
              ProcessingResponse.newBuilder()
                  .setRequestHeaders(HeadersResponse.getDefaultInstance())
                  .setDynamicMetadata(metadata(Answer.cluster("")))
                  .build());
        }
      } else if (request.hasRequestBody()) {
        decide(request.getRequestBody().getBody().toByteArray(), true);
      }
    }

    private void decide(byte[] body, boolean bodyPhase) {
      Seen request = new Seen(id, Map.copyOf(headers), body);
      seen.add(request);
      Answer answer = decision.apply(request);
      if (answer.silent()) {
        return;
      }
      ProcessingResponse.Builder response =
          ProcessingResponse.newBuilder().setDynamicMetadata(metadata(answer));
      if (answer.immediate() != null) {
        response.setImmediateResponse(answer.immediate());
      } else {
        HeaderMutation.Builder mutation = HeaderMutation.newBuilder();
        String cluster = answer.cluster();
        mutation.addSetHeaders(
            set(
                GatewayNames.ROUTE_HEADER,
                cluster == null ? GatewayNames.ROUTE_PLAN : GatewayNames.ROUTE_CLUSTER));
        if (cluster != null) {
          mutation.addSetHeaders(set(GatewayNames.CLUSTER_HEADER, cluster));
        }
        CommonResponse common =
            CommonResponse.newBuilder()
                .setHeaderMutation(mutation)
                .setClearRouteCache(true)
                .build();
        if (bodyPhase) {
          response.setRequestBody(BodyResponse.newBuilder().setResponse(common));
        } else {
          response.setRequestHeaders(HeadersResponse.newBuilder().setResponse(common));
        }
      }
      out.onNext(response.build());
      out.onCompleted();
    }

    private Struct metadata(Answer answer) {
      Struct.Builder warmpath = Struct.newBuilder().putFields(GatewayNames.DECISION_KEY, text(id));
      if (answer.strip()) {
        warmpath.putFields(
            GatewayNames.STRIP_USAGE_KEY, Value.newBuilder().setBoolValue(true).build());
      }
      Struct.Builder all =
          Struct.newBuilder()
              .putFields(
                  GatewayNames.METADATA_NAMESPACE,
                  Value.newBuilder().setStructValue(warmpath).build());
      if (!answer.destinations().isEmpty()) {
        all.putFields(
            GatewayNames.LB_NAMESPACE,
            struct(GatewayNames.DESTINATION_KEY, text(answer.destinations())));
      }
      if (!answer.plan().isEmpty()) {
        com.google.protobuf.ListValue.Builder groups = com.google.protobuf.ListValue.newBuilder();
        for (int i = 0; i < answer.plan().size(); i++) {
          com.google.protobuf.ListValue.Builder clusters =
              com.google.protobuf.ListValue.newBuilder();
          for (String name : answer.plan().get(i)) {
            clusters.addValues(
                Value.newBuilder()
                    .setStructValue(
                        Struct.newBuilder()
                            .putFields("cluster_name", text(name))
                            .putFields("weight", Value.newBuilder().setNumberValue(1).build())));
          }
          groups.addValues(
              Value.newBuilder()
                  .setStructValue(
                      Struct.newBuilder()
                          .putFields("name", text("g" + i))
                          .putFields(
                              "clusters", Value.newBuilder().setListValue(clusters).build())));
        }
        all.putFields(
            GatewayNames.PLAN_NAMESPACE,
            struct("priority_groups", Value.newBuilder().setListValue(groups).build()));
      }
      return all.build();
    }

    @Override
    public void onError(Throwable t) {}

    @Override
    public void onCompleted() {
      out.onCompleted();
    }
  }

  private final class Log extends AccessLogServiceGrpc.AccessLogServiceImplBase {
    @Override
    public StreamObserver<StreamAccessLogsMessage> streamAccessLogs(
        StreamObserver<StreamAccessLogsResponse> out) {
      return new StreamObserver<>() {
        @Override
        public void onNext(StreamAccessLogsMessage message) {
          log.addAll(message.getHttpLogs().getLogEntryList());
        }

        @Override
        public void onError(Throwable t) {}

        @Override
        public void onCompleted() {
          out.onCompleted();
        }
      };
    }
  }
}
