package dev.warmpath.extproc.config;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Channels to the control plane. */
public final class ControlPlaneChannels {
  /** A configuration of thousands of workers stays far below. */
  private static final int MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

  private static final int KEEPALIVE_SECONDS = 30;

  private ControlPlaneChannels() {}

  public static ManagedChannel unix(Path socket, EventLoopGroup eventLoops) {
    return common(
        NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toString()))
            .channelType(EpollDomainSocketChannel.class)
            .eventLoopGroup(eventLoops)
            // gRPC would derive it from the address, which is no host name.
            .overrideAuthority("control-plane"));
  }

  public static ManagedChannel tcp(String host, int port, EventLoopGroup eventLoops) {
    return common(
        NettyChannelBuilder.forAddress(host, port)
            .channelType(EpollSocketChannel.class)
            .eventLoopGroup(eventLoops));
  }

  private static ManagedChannel common(NettyChannelBuilder builder) {
    return builder
        .usePlaintext()
        .maxInboundMessageSize(MAX_MESSAGE_BYTES)
        .keepAliveTime(KEEPALIVE_SECONDS, TimeUnit.SECONDS)
        .build();
  }
}
