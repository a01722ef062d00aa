package dev.warmpath.simulator.server;

import dev.warmpath.simulator.api.RequestReader;
import dev.warmpath.simulator.api.ServedModel;
import dev.warmpath.simulator.engine.CacheListener;
import dev.warmpath.simulator.engine.Engine;
import dev.warmpath.simulator.engine.EngineProfile;
import dev.warmpath.simulator.metrics.EngineMetrics;
import dev.warmpath.simulator.text.Tokenizer;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Wires one server together and starts, breaks and stops it. */
@SuppressWarnings(
    "FutureReturnValueIgnored") // Closing and scheduling report nothing that could be acted on.
public final class SimulatorServer implements AutoCloseable, AdminRoutes.Control {
  private final HttpServer http;
  private final EventLoop loop;
  private final ServerContext server;
  private final EngineDriver driver;
  private final Runnable onRestart;
  private volatile InetSocketAddress address;
  private volatile @Nullable Channel listening;

  /**
   * Starts listening.
   *
   * @param address where; port 0 lets the system choose
   * @param profile the engine, already at the speed wanted
   * @param recordBodies keep bodies of requests for {@code GET /_sim/requests}; null keeps nothing
   *     at all
   * @param cacheListener hears of the block pool, on the event loop
   * @param onRestart runs when the engine restarts cold, on the event loop
   * @param eventSources JSON of {@code GET /kv_event_sources}
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
      CacheListener cacheListener,
      Runnable onRestart,
      Supplier<String> eventSources)
      throws InterruptedException {
    this.onRestart = onRestart;
    http = new HttpServer("simulator");
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
            new SplittableRandom(model.seed()));
    Engine engine = new Engine(profile, model.seed(), generations, cacheListener, true);
    driver = new EngineDriver(engine, loop, server::nowNanos, server::flushAll);
    generations.driver(driver);
    AdminRoutes admin = new AdminRoutes(reader, server, driver, faults, loop, this);
    server.routes(
        new Routes(
            model, reader, metrics, driver, generations, admin, eventSources, (long) created));
    Channel channel = http.listen(address, server);
    listening = channel;
    this.address = (InetSocketAddress) channel.localAddress();
  }

  /** The port that is listened on. */
  public int port() {
    return address.getPort();
  }

  @Override
  public void restartCold(@Nullable Exchange except) {
    driver.advance();
    driver.engine().restart(driver.nowNanos());
    server.resetAll(except);
    onRestart.run();
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
    http.group().shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
