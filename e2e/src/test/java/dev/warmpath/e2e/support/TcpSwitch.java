package dev.warmpath.e2e.support;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A loopback address in front of several, as a Service with client affinity is: every new
 * connection goes to the first target that accepts it. Can break off what runs, and refuse what
 * comes. Thread-safe.
 */
public final class TcpSwitch implements AutoCloseable {

  private final ServerSocket server;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final AtomicInteger accepted = new AtomicInteger();
  private volatile List<InetSocketAddress> targets;
  private volatile boolean open = true;

  public TcpSwitch(InetSocketAddress... targets) throws IOException {
    this.targets = List.of(targets);
    server = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().name("switch-" + server.getLocalPort()).start(this::accept);
  }

  public InetSocketAddress address() {
    return (InetSocketAddress) server.getLocalSocketAddress();
  }

  /** Where new connections go from now on, the first one that accepts. */
  public void targets(InetSocketAddress... next) {
    targets = List.of(next);
  }

  /** Breaks off every connection and refuses new ones, or lets them come again. */
  public void open(boolean isOpen) {
    open = isOpen;
    if (!isOpen) {
      breakOff();
    }
  }

  /** Breaks off every connection with a reset; new ones may come at once. */
  public void breakOff() {
    sockets.forEach(TcpSwitch::reset);
    sockets.clear();
  }

  /** Connections that were passed on so far. */
  public int accepted() {
    return accepted.get();
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        Socket target = open ? connect() : null;
        if (target == null) {
          reset(client);
          continue;
        }
        accepted.incrementAndGet();
        sockets.add(client);
        sockets.add(target);
        Thread.ofVirtual().start(() -> copy(client, target));
        Thread.ofVirtual().start(() -> copy(target, client));
      } catch (IOException closed) {
        return;
      }
    }
  }

  @SuppressWarnings("NullAway") // tests are not null-marked
  private Socket connect() {
    for (InetSocketAddress target : targets) {
      try {
        Socket socket = new Socket();
        socket.connect(target, 1000);
        return socket;
      } catch (IOException refused) {
        // The next one.
      }
    }
    return null;
  }

  private void copy(Socket from, Socket to) {
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      in.transferTo(out);
    } catch (IOException broken) {
      // Told to the other side below.
    }
    reset(from);
    reset(to);
    sockets.remove(from);
    sockets.remove(to);
  }

  private static void reset(Socket socket) {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException alreadyClosed) {
      // That was the aim.
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    breakOff();
  }
}
