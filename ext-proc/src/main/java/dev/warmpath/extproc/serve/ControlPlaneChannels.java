package dev.warmpath.extproc.serve;

import dev.warmpath.crds.transport.Authorities;
import dev.warmpath.crds.transport.Identity;
import dev.warmpath.crds.transport.TokenFile;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Channels to a control plane on another machine. */
public final class ControlPlaneChannels {
  private static final Logger LOG = LoggerFactory.getLogger(ControlPlaneChannels.class);
  private static final int KEEPALIVE_SECONDS = 30;

  private ControlPlaneChannels() {}

  /**
   * What the processor trusts and shows. The files are read again when they are replaced: the next
   * connection, for the token the next stream, goes by the new content.
   *
   * @param authorities PEM file with the authorities of the control plane's certificate; null for
   *     plain text
   * @param certificate PEM file with the processor's own certificate; null to show none
   * @param key PEM file with its private key; given exactly where {@code certificate} is
   * @param token file whose first line is shown; null to show none
   * @param serverName name in the control plane's certificate; null for the host of the address
   */
  public record Security(
      @Nullable Path authorities,
      @Nullable Path certificate,
      @Nullable Path key,
      @Nullable Path token,
      @Nullable String serverName) {
    public Security {
      if ((certificate == null) != (key == null)) {
        throw new IllegalArgumentException(
            "a certificate needs its key, and a key its certificate");
      }
      if (certificate != null && authorities == null) {
        throw new IllegalArgumentException("only TLS can show a certificate");
      }
    }

    /** Plain text. */
    public static Security none() {
      return new Security(null, null, null, null, null);
    }
  }

  /**
   * A channel that connects when it is used.
   *
   * @throws IOException if a file cannot be read or is of no use; names it
   */
  public static ManagedChannel open(
      String host, int port, Security security, EventLoopGroup eventLoops, int maxMessageBytes)
      throws IOException {
    NettyChannelBuilder channel =
        NettyChannelBuilder.forAddress(host, port)
            .channelType(EpollSocketChannel.class)
            .eventLoopGroup(eventLoops)
            .maxInboundMessageSize(maxMessageBytes)
            .keepAliveTime(KEEPALIVE_SECONDS, TimeUnit.SECONDS);
    if (security.authorities() == null) {
      channel.usePlaintext();
    } else {
      channel.sslContext(tls(security.authorities(), security));
      if (security.serverName() != null) {
        channel.overrideAuthority(security.serverName());
      }
    }
    if (security.token() != null) {
      channel.intercept(new ShowsToken(TokenFile.of(security.token())));
    }
    return channel.build();
  }

  private static SslContext tls(Path authorities, Security security) throws IOException {
    SslContextBuilder tls =
        GrpcSslContexts.configure(SslContextBuilder.forClient(), SslProvider.JDK)
            .protocols("TLSv1.3", "TLSv1.2")
            .trustManager(
                Authorities.of(
                    authorities, reason -> LOG.warn("control plane is not trusted: {}", reason)));
    if (security.certificate() != null && security.key() != null) {
      tls.keyManager(Identity.of(security.certificate(), security.key()));
    }
    return tls.build();
  }

  /** Reads the token for each stream. */
  private record ShowsToken(TokenFile token) implements ClientInterceptor {
    private static final Metadata.Key<String> AUTHORIZATION =
        Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(
        MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
      return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override
        public void start(Listener<A> listener, Metadata headers) {
          headers.put(AUTHORIZATION, token.authorization());
          super.start(listener, headers);
        }
      };
    }
  }
}
