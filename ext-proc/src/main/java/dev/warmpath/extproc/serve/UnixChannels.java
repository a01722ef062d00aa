package dev.warmpath.extproc.serve;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.nio.file.Path;

/** Channels to gRPC servers on this machine. */
public final class UnixChannels {
  private UnixChannels() {}

  /** One thread is plenty for a client. */
  public static EventLoopGroup clientLoops() {
    return new MultiThreadIoEventLoopGroup(
        1, new DefaultThreadFactory("grpc-client-io", true), EpollIoHandler.newFactory());
  }

  public static ManagedChannel open(Path socket, EventLoopGroup eventLoops, int maxMessageBytes) {
    return NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toString()))
        .channelType(EpollDomainSocketChannel.class)
        .withOption(ChannelOption.SO_KEEPALIVE, unset())
        .eventLoopGroup(eventLoops)
        // gRPC would derive it from the address, which is no host name.
        .overrideAuthority("localhost")
        .directExecutor()
        .usePlaintext()
        .maxInboundMessageSize(maxMessageBytes)
        .build();
  }

  /**
   * Value of an option that is not to be set. gRPC sets keep-alive on every channel, a Unix socket
   * does not know it, and netty would warn at each connection.
   */
  @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"}) // null removes an option
  static <T> T unset() {
    return null;
  }
}
