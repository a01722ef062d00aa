package dev.warmpath.xds.serve;

import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One stream of a gateway, of either service: its first message says which gateway, its end is told
 * once, however it ends. Hands everything to the control thread, which alone touches the fields.
 *
 * @param <Q> what the gateway sends
 * @param <A> what it is sent
 * @param <S> the stream's own state, made with the first message
 */
abstract class GatewayCall<Q, A, S> implements StreamObserver<Q> {
  private final ControlThread control;
  private final StreamObserver<A> out;
  private final Function<Q, String> nodeId;
  private final String nodeField;
  private @Nullable Gateway gateway;
  private @Nullable S state;
  private boolean ended;

  GatewayCall(
      ControlThread control, StreamObserver<A> out, String nodeField, Function<Q, String> nodeId) {
    this.control = control;
    this.out = out;
    this.nodeField = nodeField;
    this.nodeId = nodeId;
  }

  /** Follows the stream's end as well. */
  StreamObserver<Q> started() {
    ((ServerCallStreamObserver<A>) out).setOnCancelHandler(this::end);
    return this;
  }

  abstract Gateway gateway(Q first);

  abstract S connected(Gateway to, StreamObserver<A> answers, Q first);

  /** A message; also the first one, after {@link #connected}. */
  abstract void received(Gateway from, S stream, Q message, boolean first);

  abstract void disconnected(Gateway from, S stream);

  @Override
  public final void onNext(Q message) {
    control.run(() -> accept(message));
  }

  private void accept(Q message) {
    if (ended) {
      return;
    }
    boolean first = gateway == null || state == null;
    if (gateway == null || state == null) {
      if (nodeId.apply(message).isEmpty()) {
        ended = true;
        out.onError(
            Status.INVALID_ARGUMENT
                .withDescription("the first request must carry " + nodeField)
                .asRuntimeException());
        return;
      }
      gateway = gateway(message);
      state = connected(gateway, out, message);
    }
    received(gateway, state, message, first);
    gateway.evaluate();
  }

  @Override
  public final void onError(Throwable t) {
    end();
  }

  @Override
  public final void onCompleted() {
    end();
    control.run(out::onCompleted);
  }

  private void end() {
    control.run(() -> {
      if (!ended) {
        ended = true;
        if (gateway != null && state != null) {
          disconnected(gateway, state);
        }
      }
    });
  }
}
