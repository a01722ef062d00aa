package dev.warmpath.extproc.serve;

import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One gRPC server on a Unix socket and optionally one on TCP, with the same services. Callbacks run
 * on the event loops: services must hand work over by themselves.
 */
public final class GrpcListeners implements AutoCloseable {
  /** Room around the largest body: headers, metadata, framing. */
  private static final int MESSAGE_OVERHEAD_BYTES = 1024 * 1024;

  /** A body of this size arrives without a pause for window updates. */
  private static final int WINDOW_BYTES = 16 * 1024 * 1024;

  /** Linux refuses longer socket paths with an error that does not say so. */
  private static final int MAX_SOCKET_PATH_BYTES = 107;

  /** Envoy pings an idle connection every 30 s. */
  private static final int SHORTEST_KEEPALIVE_SECONDS = 5;

  private static final int DRAIN_SECONDS = 5;

  private final EventLoopGroup eventLoops;
  private final Path socket;
  private final Server unixServer;
  private final @Nullable Server tcpServer;

  private GrpcListeners(
      EventLoopGroup eventLoops, Path socket, Server unixServer, @Nullable Server tcpServer) {
    this.eventLoops = eventLoops;
    this.socket = socket;
    this.unixServer = unixServer;
    this.tcpServer = tcpServer;
  }

  public static GrpcListeners start(
      Path socket,
      @Nullable InetSocketAddress tcpAddress,
      int ioThreads,
      int maxBodyBytes,
      List<ServerServiceDefinition> services)
      throws IOException {
    if (!Epoll.isAvailable()) {
      throw new IOException(
          "epoll is not available here (Linux on x86-64 or arm64 is needed)",
          Epoll.unavailabilityCause());
    }
    if (socket.toString().getBytes(StandardCharsets.UTF_8).length > MAX_SOCKET_PATH_BYTES) {
      throw new IOException(
          "socket path is longer than " + MAX_SOCKET_PATH_BYTES + " bytes: " + socket);
    }
    removeStale(socket);
    EventLoopGroup eventLoops =
        new MultiThreadIoEventLoopGroup(
            ioThreads, new DefaultThreadFactory("ext-proc-io", true), EpollIoHandler.newFactory());
    List<Server> started = new ArrayList<>();
    try {
      Server unixServer =
          builder(new DomainSocketAddress(socket.toString()), eventLoops, maxBodyBytes, services)
              .channelType(EpollServerDomainSocketChannel.class)
              .withChildOption(ChannelOption.SO_KEEPALIVE, UnixChannels.unset())
              .build()
              .start();
      started.add(unixServer);
      Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
      Server tcpServer = null;
      if (tcpAddress != null) {
        tcpServer =
            builder(tcpAddress, eventLoops, maxBodyBytes, services)
                .channelType(EpollServerSocketChannel.class)
                .build()
                .start();
        started.add(tcpServer);
      }
      return new GrpcListeners(eventLoops, socket, unixServer, tcpServer);
    } catch (IOException | RuntimeException e) {
      started.forEach(Server::shutdownNow);
      var _ = eventLoops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
      throw e;
    }
  }

  /** Port of the TCP listener, or -1 without one. */
  public int tcpPort() {
    return tcpServer == null ? -1 : tcpServer.getPort();
  }

  /** Takes no new streams, lets running ones end for some seconds, removes the socket file. */
  @Override
  public void close() {
    unixServer.shutdown();
    if (tcpServer != null) {
      tcpServer.shutdown();
    }
    drain(unixServer);
    if (tcpServer != null) {
      drain(tcpServer);
    }
    eventLoops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2_000);
    try {
      Files.deleteIfExists(socket);
    } catch (IOException e) {
      // A leftover socket file is replaced at the next start.
    }
  }

  private static void drain(Server server) {
    try {
      if (!server.awaitTermination(DRAIN_SECONDS, TimeUnit.SECONDS)) {
        server.shutdownNow();
      }
    } catch (InterruptedException e) {
      server.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }

  private static NettyServerBuilder builder(
      SocketAddress address,
      EventLoopGroup eventLoops,
      int maxBodyBytes,
      List<ServerServiceDefinition> services) {
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(address)
            .bossEventLoopGroup(eventLoops)
            .workerEventLoopGroup(eventLoops)
            .directExecutor()
            .maxInboundMessageSize(maxBodyBytes + MESSAGE_OVERHEAD_BYTES)
            .initialFlowControlWindow(WINDOW_BYTES)
            .permitKeepAliveTime(SHORTEST_KEEPALIVE_SECONDS, TimeUnit.SECONDS)
            .permitKeepAliveWithoutCalls(true);
    services.forEach(builder::addService);
    return builder;
  }

  /** A socket file that a killed process left behind; anything else stays and fails the bind. */
  private static void removeStale(Path socket) throws IOException {
    if (Files.exists(socket, LinkOption.NOFOLLOW_LINKS)
        && !Files.isRegularFile(socket, LinkOption.NOFOLLOW_LINKS)
        && !Files.isDirectory(socket, LinkOption.NOFOLLOW_LINKS)) {
      Files.delete(socket);
    }
    Path folder = socket.toAbsolutePath().getParent();
    if (folder != null) {
      Files.createDirectories(folder);
    }
  }
}
