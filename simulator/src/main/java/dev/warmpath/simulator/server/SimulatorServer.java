package dev.warmpath.simulator.server;

import dev.warmpath.simulator.ReceivedRequest;
import dev.warmpath.simulator.api.RequestReader;
import dev.warmpath.simulator.api.ServedModel;
import dev.warmpath.simulator.engine.CacheListener;
import dev.warmpath.simulator.engine.Engine;
import dev.warmpath.simulator.engine.EngineProfile;
import dev.warmpath.simulator.events.KvEventPublisher;
import dev.warmpath.simulator.metrics.EngineMetrics;
import dev.warmpath.simulator.text.Tokenizer;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Wires one server together and starts, breaks and stops it. */
@SuppressWarnings(
    "FutureReturnValueIgnored") // Closing and scheduling report nothing that could be acted on.
public final class SimulatorServer implements AutoCloseable, AdminRoutes.Control {
  private final HttpServer http;
  private final EventLoop loop;
  private final ServerContext server;
  private final EngineDriver driver;
  private final @Nullable KvEventPublisher events;
  private volatile InetSocketAddress address;
  private volatile @Nullable Channel listening;

  /**
   * Starts listening.
   *
   * @param address where; port 0 lets the system choose
   * @param profile the engine, already at the speed wanted
   * @param recordBodies keep bodies of requests for {@code GET /_sim/requests}; null keeps nothing
   *     at all
   * @param events publishes what happens in the block pool; closed with the server
   * @param tls serves TLS; null for plain HTTP
   */
  public SimulatorServer(
      InetSocketAddress address,
      EngineProfile profile,
      ServedModel model,
      @Nullable Boolean recordBodies,
      boolean requestIdHeaders,
      int keepAliveMillis,
      Clock clock,
      LongSupplier nanoClock,
      @Nullable KvEventPublisher events,
      @Nullable SSLContext tls)
      throws InterruptedException {
    this.events = events;
    http = new HttpServer("simulator", tls);
    loop = http.group().next();
    RequestLog.Level level =
        recordBodies == null
            ? RequestLog.Level.OFF
            : recordBodies ? RequestLog.Level.BODY : RequestLog.Level.DIGEST;
    RequestReader reader = new RequestReader(model, new Tokenizer());
    double created = clock.millis() / 1e3;
    EngineMetrics metrics = new EngineMetrics(profile, model.name(), created);
    Faults faults = new Faults();
    long origin = nanoClock.getAsLong();
    server =
        new ServerContext(
            clock,
            () -> nanoClock.getAsLong() - origin,
            new RequestLog(level),
            requestIdHeaders,
            keepAliveMillis);
    GenerationHandler generations =
        new GenerationHandler(
            model,
            profile.cache(),
            reader,
            metrics,
            server,
            faults,
            new SplittableRandom(model.seed()),
            events != null);
    Engine engine =
        new Engine(
            profile, model.seed(), generations, events == null ? CacheListener.NONE : events, true);
    driver = new EngineDriver(engine, loop, server::nowNanos, server::flushAll);
    generations.driver(driver);
    AdminRoutes admin = new AdminRoutes(reader, server, driver, faults, loop, this, events);
    server.routes(
        new Routes(
            model,
            reader,
            metrics,
            driver,
            generations,
            admin,
            () -> events == null ? "{}" : events.sources(),
            (long) created));
    Channel channel = http.listen(address, server);
    listening = channel;
    this.address = (InetSocketAddress) channel.localAddress();
  }

  /** The port that is listened on. */
  public int port() {
    return address.getPort();
  }

  /** What was received so far, oldest first. */
  public List<ReceivedRequest> received() {
    return loop.submit(() -> server.log().received()).syncUninterruptibly().getNow();
  }

  /** Forgets what was received. */
  public void forget() {
    loop.submit(() -> server.log().clear()).syncUninterruptibly();
  }

  @Override
  public void restartCold(@Nullable Exchange except) {
    driver.advance();
    driver.engine().restart(driver.nowNanos());
    server.resetAll(except);
    if (events != null) {
      events.restart();
    }
    driver.advance();
  }

  @Override
  public void crash(double seconds) {
    Channel channel = listening;
    if (channel == null) {
      return;
    }
    listening = null;
    channel.close();
    restartCold(null);
    if (seconds > 0) {
      loop.schedule(this::listenAgain, (long) (seconds * 1e9), TimeUnit.NANOSECONDS);
    }
  }

  /** Listens again on the same port after a crash. */
  public void listenAgain() {
    http.bootstrap(server)
        .bind(address)
        .addListener((io.netty.channel.ChannelFuture bound) -> {
          if (bound.isSuccess()) {
            listening = bound.channel();
          } else {
            loop.schedule(this::listenAgain, 50, TimeUnit.MILLISECONDS);
          }
        });
  }

  /** Stops listening and breaks what is still open. */
  @Override
  public void close() {
    if (http.group().isShuttingDown()) {
      return;
    }
    loop.submit(
            () -> {
              Channel channel = listening;
              listening = null;
              if (channel != null) {
                channel.close();
              }
              driver.stop();
              server.resetAll(null);
            })
        .syncUninterruptibly();
    if (events != null) {
      events.close();
    }
    http.group().shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
