package dev.warmpath.simulator.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection. Collects a request with its body, hands it on, writes the response. Requests that
 * come early wait for their turn. An idle connection is closed after the keep-alive time.
 */
@SuppressWarnings(
    "FutureReturnValueIgnored") // A failed write closes the connection, and that is heard of.
final class HttpConnection extends ChannelInboundHandlerAdapter {
  private static final Logger LOG = LoggerFactory.getLogger(HttpConnection.class);
  private static final int LARGEST_BODY = 64 << 20;
  private static final int INITIAL_BODY = 4096;

  private final ServerContext server;
  private final ArrayDeque<HttpObject> early = new ArrayDeque<>();
  private @Nullable ChannelHandlerContext context;
  private @Nullable HttpRequest head;
  private @Nullable BodyBuffer body;
  private @Nullable Exchange current;
  private @Nullable ScheduledFuture<?> idleTimer;
  private boolean unflushed;

  HttpConnection(ServerContext server) {
    this.server = server;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    this.context = context;
    server.opened(this);
    startIdleTimer();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    stopIdleTimer();
    server.closed(this);
    early.forEach(ReferenceCountUtil::release);
    early.clear();
    abortCurrent();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    // A client that does not trust the certificate is its own business.
    if (!(cause instanceof IOException || cause.getCause() instanceof IOException)) {
      LOG.error("connection failed", cause);
    }
    context.close();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (!(message instanceof HttpObject object)) {
      ReferenceCountUtil.release(message);
      return;
    }
    if (current != null) {
      early.addLast(object);
      return;
    }
    read(object);
  }

  private void read(HttpObject object) {
    try {
      if (object.decoderResult().isFailure()) {
        reject(400, "Invalid HTTP request received.");
        return;
      }
      if (object instanceof HttpRequest request) {
        begin(request);
      }
      if (object instanceof HttpContent content && head != null) {
        append(content.content());
        if (content instanceof LastHttpContent && head != null) {
          complete(head);
        }
      }
    } finally {
      ReferenceCountUtil.release(object);
    }
  }

  private void begin(HttpRequest request) {
    stopIdleTimer();
    head = request;
    long length = HttpUtil.getContentLength(request, -1L);
    if (length > LARGEST_BODY) {
      reject(413, "Request Entity Too Large");
      return;
    }
    body = new BodyBuffer(length < 0 ? INITIAL_BODY : (int) length);
    if (HttpUtil.is100ContinueExpected(request) && context != null) {
      context.writeAndFlush(
          new DefaultFullHttpResponse(
              HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
    }
  }

  private void append(ByteBuf content) {
    if (body == null || !content.isReadable()) {
      return;
    }
    if (body.size() + content.readableBytes() > LARGEST_BODY) {
      reject(413, "Request Entity Too Large");
      return;
    }
    body.append(content);
  }

  private void complete(HttpRequest request) {
    long arrivalNanos = server.nowNanos();
    byte[] bytes = body == null ? new byte[0] : body.toBytes();
    head = null;
    body = null;
    Exchange exchange =
        new Exchange(this, request, bytes, arrivalNanos, server.received(request, bytes));
    current = exchange;
    server.handle(exchange);
  }

  /** Refuses what isn't a request, and hangs up. */
  private void reject(int status, String detail) {
    head = null;
    body = null;
    if (context != null) {
      byte[] bytes = ("{\"detail\":\"" + detail + "\"}").getBytes(StandardCharsets.UTF_8);
      FullHttpResponse response =
          new DefaultFullHttpResponse(
              HttpVersion.HTTP_1_1,
              HttpResponseStatus.valueOf(status),
              Unpooled.wrappedBuffer(bytes));
      headers(response, "application/json", bytes.length, false);
      context.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
    }
  }

  void respond(
      Exchange exchange, int status, String contentType, String text, Map<String, String> extra) {
    if (context == null) {
      return;
    }
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.valueOf(status),
            Unpooled.wrappedBuffer(bytes));
    headers(response, bytes.length == 0 ? "" : contentType, bytes.length, exchange.keepAlive());
    extra.forEach(response.headers()::set);
    context.write(response);
    finish(exchange);
  }

  void startStream(Exchange exchange) {
    if (context == null) {
      return;
    }
    HttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
    headers(response, "text/event-stream; charset=utf-8", -1, exchange.keepAlive());
    server.extraHeaders(exchange).forEach(response.headers()::set);
    context.write(response);
    markUnflushed();
  }

  /** One event as one chunk, framed here so that it is one buffer. */
  void event(CharSequence event) {
    if (context == null) {
      return;
    }
    int length = ByteBufUtil.utf8Bytes(event);
    ByteBuf buffer = context.alloc().ioBuffer(length + 12);
    ByteBufUtil.writeAscii(buffer, Integer.toHexString(length));
    ByteBufUtil.writeShortBE(buffer, 0x0D0A);
    ByteBufUtil.writeUtf8(buffer, event);
    ByteBufUtil.writeShortBE(buffer, 0x0D0A);
    ChannelHandlerContext codec = context.pipeline().context(ServerContext.CODEC);
    // Past the codec, which would frame it again, towards the socket.
    codec.write(buffer);
    markUnflushed();
  }

  void endStream(Exchange exchange) {
    if (context == null) {
      return;
    }
    context.write(LastHttpContent.EMPTY_LAST_CONTENT);
    finish(exchange);
  }

  /** Closes with a reset instead of an orderly end. */
  void reset() {
    if (context == null || !context.channel().isActive()) {
      return;
    }
    context.flush();
    try {
      context.channel().config().setOption(ChannelOption.SO_LINGER, 0);
    } catch (ChannelException e) {
      // The client was faster.
    }
    context.close();
  }

  void flush() {
    unflushed = false;
    if (context != null) {
      context.flush();
    }
  }

  private void markUnflushed() {
    if (!unflushed) {
      unflushed = true;
      server.unflushed(this);
    }
  }

  private void finish(Exchange exchange) {
    current = null;
    server.ended(exchange, false);
    if (!exchange.keepAlive() && context != null) {
      context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
      return;
    }
    markUnflushed();
    startIdleTimer();
    if (!early.isEmpty() && context != null) {
      context.executor().execute(this::readEarly);
    }
  }

  private void readEarly() {
    while (current == null) {
      HttpObject next = early.pollFirst();
      if (next == null) {
        return;
      }
      read(next);
    }
  }

  private void abortCurrent() {
    Exchange exchange = current;
    current = null;
    if (exchange != null) {
      exchange.aborted();
      server.ended(exchange, true);
    }
  }

  private void headers(HttpResponse response, String contentType, int length, boolean keepAlive) {
    HttpHeaders headers = response.headers();
    headers.set("date", server.date());
    headers.set("server", "uvicorn");
    if (length >= 0) {
      headers.set("content-length", length);
    }
    if (!contentType.isEmpty()) {
      headers.set("content-type", contentType);
    }
    headers.set("vary", "Origin");
    if (!keepAlive) {
      headers.set("connection", "close");
    }
    if (length < 0) {
      headers.set("transfer-encoding", "chunked");
    }
  }

  private void startIdleTimer() {
    if (context != null && server.keepAliveMillis() > 0) {
      idleTimer =
          context
              .executor()
              .schedule(this::closeIdle, server.keepAliveMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private void stopIdleTimer() {
    if (idleTimer != null) {
      idleTimer.cancel(false);
      idleTimer = null;
    }
  }

  private void closeIdle() {
    if (current == null && head == null && context != null) {
      context.close();
    }
  }
}
