package dev.warmpath.xds.serve;

import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The gRPC server with both services, on a Unix socket, on TCP, or on both. */
public final class DiscoveryServer implements AutoCloseable {
  private static final long KEEPALIVE_SECONDS = 30;
  private static final long KEEPALIVE_TIMEOUT_SECONDS = 10;

  private final List<Server> servers = new ArrayList<>();
  private final List<EventLoopGroup> groups = new ArrayList<>();
  private final List<Path> sockets = new ArrayList<>();
  private final ControlThread control;
  private final Gateways gateways;

  public DiscoveryServer(ControlThread control, Gateways gateways) {
    this.control = control;
    this.gateways = gateways;
  }

  /**
   * Listens on a Unix socket that its owner alone may use. A socket left by a crash is replaced.
   */
  public void listen(Path socket) throws IOException {
    Path folder = socket.toAbsolutePath().getParent();
    if (folder != null) {
      Files.createDirectories(folder);
    }
    Files.deleteIfExists(socket);
    listen(UnixDomainSocketAddress.of(socket), NioServerDomainSocketChannel.class);
    sockets.add(socket);
    try {
      Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-rw----"));
    } catch (UnsupportedOperationException e) {
      // A file system without permissions has none to restrict.
    }
  }

  /** Listens on TCP and returns the port. */
  public int listen(InetSocketAddress address) throws IOException {
    return listen(address, NioServerSocketChannel.class).getPort();
  }

  private Server listen(
      SocketAddress address, Class<? extends io.netty.channel.ServerChannel> channel)
      throws IOException {
    EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    groups.add(group);
    Server server =
        NettyServerBuilder.forAddress(address)
            .channelType(channel)
            .bossEventLoopGroup(group)
            .workerEventLoopGroup(group)
            // The callbacks only hand over to the control thread.
            .directExecutor()
            .keepAliveTime(KEEPALIVE_SECONDS, TimeUnit.SECONDS)
            .keepAliveTimeout(KEEPALIVE_TIMEOUT_SECONDS, TimeUnit.SECONDS)
            .permitKeepAliveTime(1, TimeUnit.SECONDS)
            .permitKeepAliveWithoutCalls(true)
            .addService(new AdsService(control, gateways))
            .addService(new RoutingService(control, gateways))
            .build()
            .start();
    servers.add(server);
    return server;
  }

  @Override
  public void close() {
    servers.forEach(Server::shutdownNow);
    for (Server server : servers) {
      try {
        if (!server.awaitTermination(2, TimeUnit.SECONDS)) {
          break;
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        break;
      }
    }
    for (EventLoopGroup group : groups) {
      group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(1, TimeUnit.SECONDS);
    }
    for (Path socket : sockets) {
      try {
        Files.deleteIfExists(socket);
      } catch (IOException e) {
        // The next start replaces it.
      }
    }
  }
}
