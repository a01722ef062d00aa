package dev.warmpath.extproc;

import dev.warmpath.extproc.label.LabelWebhook;
import dev.warmpath.extproc.serve.ControlPlaneChannels;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How one external processor is started. Everything that changes while it runs comes with the
 * routing configuration instead.
 *
 * @param socket Unix socket for Envoy: deciding, watching, access log
 * @param tcpAddress the same services for a data plane elsewhere; null for none
 * @param adminAddress HTTP for people and probes
 * @param controlPlane where the routing configuration comes from; null where it is given in the
 *     process itself
 * @param nodeId as Envoy of this gateway reports it, so that the control plane orders both
 * @param nodeCluster as Envoy reports it
 * @param stateDirectory where the last good configuration is kept
 * @param maxBodyBytes largest request body
 * @param maxBufferedBytes bytes of all request bodies that may be held at once
 * @param ioThreads event loops; decisions run elsewhere
 * @param decisionThreads threads that decide
 * @param labelWebhooks services that give labels
 */
public record ExtProcOptions(
    Path socket,
    @Nullable InetSocketAddress tcpAddress,
    InetSocketAddress adminAddress,
    @Nullable ControlPlane controlPlane,
    String nodeId,
    String nodeCluster,
    Path stateDirectory,
    int maxBodyBytes,
    long maxBufferedBytes,
    int ioThreads,
    int decisionThreads,
    List<LabelWebhook> labelWebhooks) {

  /** Name of the socket in a run directory; the bootstrap expects it there. */
  public static final String SOCKET_NAME = "ext-proc.sock";

  /** Default body limit: what Envoy's bootstrap accepts. */
  public static final int DEFAULT_MAX_BODY_BYTES = 64 * 1024 * 1024;

  /** The control plane's address. */
  public sealed interface ControlPlane {
    record UnixSocket(Path path) implements ControlPlane {}

    record Tcp(String host, int port, ControlPlaneChannels.Security security)
        implements ControlPlane {}
  }

  public ExtProcOptions {
    labelWebhooks = List.copyOf(labelWebhooks);
    if (maxBufferedBytes < maxBodyBytes) {
      throw new IllegalArgumentException(
          "maxBufferedBytes: %d (expected: at least maxBodyBytes, %d)"
              .formatted(maxBufferedBytes, maxBodyBytes));
    }
  }

  /**
   * Files in {@code runDirectory}, admin on a free loopback port, sizes by this machine: a quarter
   * of the heap for bodies, one decision thread a core.
   */
  public static ExtProcOptions defaults(Path runDirectory, String nodeId, String nodeCluster) {
    int cores = Runtime.getRuntime().availableProcessors();
    long quarterOfHeap = Runtime.getRuntime().maxMemory() / 4;
    int maxBody = (int) Math.min(DEFAULT_MAX_BODY_BYTES, quarterOfHeap);
    return new ExtProcOptions(
        runDirectory.resolve(SOCKET_NAME),
        null,
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
        null,
        nodeId,
        nodeCluster,
        runDirectory,
        maxBody,
        Math.max(quarterOfHeap, maxBody),
        cores > 4 ? 2 : 1,
        cores,
        List.of());
  }

  public ExtProcOptions withControlPlane(ControlPlane address) {
    return with(draft -> draft.controlPlane = address);
  }

  public ExtProcOptions withAdminAddress(InetSocketAddress address) {
    return with(draft -> draft.adminAddress = address);
  }

  public ExtProcOptions withTcpAddress(InetSocketAddress address) {
    return with(draft -> draft.tcpAddress = address);
  }

  public ExtProcOptions withLabelWebhooks(List<LabelWebhook> webhooks) {
    return with(draft -> draft.labelWebhooks = webhooks);
  }

  public ExtProcOptions withBodyLimits(int maxBody, long maxBuffered) {
    return with(draft -> {
      draft.maxBodyBytes = maxBody;
      draft.maxBufferedBytes = maxBuffered;
    });
  }

  private ExtProcOptions with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return draft.build();
  }

  /** One mutable copy, so that each {@code with} names only what it changes. */
  private static final class Draft {
    private final Path socket;
    private @Nullable InetSocketAddress tcpAddress;
    private InetSocketAddress adminAddress;
    private @Nullable ControlPlane controlPlane;
    private final String nodeId;
    private final String nodeCluster;
    private final Path stateDirectory;
    private int maxBodyBytes;
    private long maxBufferedBytes;
    private final int ioThreads;
    private final int decisionThreads;
    private List<LabelWebhook> labelWebhooks;

    Draft(ExtProcOptions from) {
      socket = from.socket;
      tcpAddress = from.tcpAddress;
      adminAddress = from.adminAddress;
      controlPlane = from.controlPlane;
      nodeId = from.nodeId;
      nodeCluster = from.nodeCluster;
      stateDirectory = from.stateDirectory;
      maxBodyBytes = from.maxBodyBytes;
      maxBufferedBytes = from.maxBufferedBytes;
      ioThreads = from.ioThreads;
      decisionThreads = from.decisionThreads;
      labelWebhooks = from.labelWebhooks;
    }

    ExtProcOptions build() {
      return new ExtProcOptions(
          socket,
          tcpAddress,
          adminAddress,
          controlPlane,
          nodeId,
          nodeCluster,
          stateDirectory,
          maxBodyBytes,
          maxBufferedBytes,
          ioThreads,
          decisionThreads,
          labelWebhooks);
    }
  }
}
