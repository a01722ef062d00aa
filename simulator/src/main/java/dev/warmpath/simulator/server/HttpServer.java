package dev.warmpath.simulator.server;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.ssl.SslHandler;
import java.net.InetSocketAddress;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/** The listening socket and its one event loop. */
final class HttpServer {
  private static final int LONGEST_LINE = 64 << 10;
  private static final int LARGEST_HEADERS = 4 << 20;
  private static final int BACKLOG = 4096;

  private final EventLoopGroup group;
  private final Class<? extends ServerChannel> channelType;
  private final @Nullable SSLContext tls;

  /**
   * @param tls serves TLS; null for plain HTTP
   */
  HttpServer(String threadName, @Nullable SSLContext tls) {
    this.tls = tls;
    boolean epoll = Epoll.isAvailable();
    IoHandlerFactory io = epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    group =
        new MultiThreadIoEventLoopGroup(
            1, Thread.ofPlatform().name(threadName).daemon(true).factory(), io);
    channelType = epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
  }

  EventLoopGroup group() {
    return group;
  }

  /** Listens; waits until it does. Not from the event loop. */
  Channel listen(InetSocketAddress address, ServerContext server) throws InterruptedException {
    return bootstrap(server).bind(address).sync().channel();
  }

  ServerBootstrap bootstrap(ServerContext server) {
    return new ServerBootstrap()
        .group(group)
        .channel(channelType)
        .option(ChannelOption.SO_BACKLOG, BACKLOG)
        .option(ChannelOption.SO_REUSEADDR, true)
        .childOption(ChannelOption.TCP_NODELAY, true)
        .childOption(
            ChannelOption.RECVBUF_ALLOCATOR,
            new AdaptiveRecvByteBufAllocator(512, 8 << 10, 256 << 10))
        .childHandler(
            new ChannelInitializer<SocketChannel>() {
              @Override
              protected void initChannel(SocketChannel channel) {
                HttpDecoderConfig config =
                    new HttpDecoderConfig()
                        .setMaxInitialLineLength(LONGEST_LINE)
                        .setMaxHeaderSize(LARGEST_HEADERS)
                        .setMaxChunkSize(1 << 20);
                if (tls != null) {
                  channel.pipeline().addLast(new SslHandler(engine(tls)));
                }
                channel.pipeline().addLast(ServerContext.CODEC, new HttpServerCodec(config));
                channel.pipeline().addLast(new HttpConnection(server));
              }
            });
  }

  private static SSLEngine engine(SSLContext tls) {
    SSLEngine engine = tls.createSSLEngine();
    engine.setUseClientMode(false);
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setApplicationProtocols(new String[] {"http/1.1"});
    engine.setSSLParameters(parameters);
    return engine;
  }
}
