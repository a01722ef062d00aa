package dev.warmpath.xds.serve;

import dev.warmpath.crds.transport.Authorities;
import dev.warmpath.crds.transport.Identity;
import dev.warmpath.crds.transport.TokenFile;
import dev.warmpath.xds.telemetry.XdsMetrics;
import io.grpc.Server;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
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
import org.jspecify.annotations.Nullable;

/** The gRPC server with both services, on a Unix socket, on TCP, or on both. */
public final class DiscoveryServer implements AutoCloseable {
  private static final long KEEPALIVE_SECONDS = 30;
  private static final long KEEPALIVE_TIMEOUT_SECONDS = 10;

  private final List<Server> servers = new ArrayList<>();
  private final List<EventLoopGroup> groups = new ArrayList<>();
  private final List<Path> sockets = new ArrayList<>();
  private final ControlThread control;
  private final Gateways gateways;
  private final Refusals refusals;

  public DiscoveryServer(ControlThread control, Gateways gateways, XdsMetrics metrics) {
    this.control = control;
    this.gateways = gateways;
    refusals = new Refusals(metrics);
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
    NettyServerBuilder server =
        builder(UnixDomainSocketAddress.of(socket), NioServerDomainSocketChannel.class);
    withoutKeepAliveOption(server);
    start(server);
    sockets.add(socket);
    try {
      Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-rw----"));
    } catch (UnsupportedOperationException e) {
      // A file system without permissions has none to restrict.
    }
  }

  /**
   * Listens on TCP and returns the port.
   *
   * @throws IOException if the address cannot be had or a file of {@code security} is of no use;
   *     names it
   */
  public int listen(InetSocketAddress address, ServerSecurity security) throws IOException {
    NettyServerBuilder server = builder(address, NioServerSocketChannel.class);
    if (security.certificate() != null && security.key() != null) {
      server.sslContext(
          tls(
              Identity.of(security.certificate(), security.key()),
              security.clientAuthorities() == null
                  ? null
                  : Authorities.of(security.clientAuthorities(), refusals::certificate)));
    }
    if (security.tokens() != null) {
      server.intercept(new TokenCheck(TokenFile.of(security.tokens()), refusals));
    }
    return start(server).getPort();
  }

  private static SslContext tls(Identity identity, @Nullable Authorities clients)
      throws IOException {
    SslContextBuilder tls =
        GrpcSslContexts.configure(SslContextBuilder.forServer(identity), SslProvider.JDK)
            .protocols("TLSv1.3", "TLSv1.2")
            // A resumed session would skip the check against authorities that were replaced.
            .sessionTimeout(1)
            .sessionCacheSize(1);
    if (clients != null) {
      tls.trustManager(clients).clientAuth(ClientAuth.REQUIRE);
    }
    return tls.build();
  }

  /**
   * gRPC sets keep-alive on every channel; a Unix socket does not know it, and netty would warn.
   */
  @SuppressWarnings("NullAway") // null removes an option
  private static void withoutKeepAliveOption(NettyServerBuilder server) {
    server.withChildOption(ChannelOption.SO_KEEPALIVE, null);
  }

  private NettyServerBuilder builder(
      SocketAddress address, Class<? extends io.netty.channel.ServerChannel> channel) {
    EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    groups.add(group);
    return NettyServerBuilder.forAddress(address)
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
        .addService(new RoutingService(control, gateways));
  }

  private Server start(NettyServerBuilder builder) throws IOException {
    Server server = builder.build().start();
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
