package dev.warmpath.crds.resource;

import dev.warmpath.crds.v1alpha1.ApiGroup;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.crds.v1alpha1.ProviderSpec;
import dev.warmpath.crds.v1alpha1.TenantSpec;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The six kinds of group {@value #GROUP}. */
public enum Kind {
  WORKER_SET("InferenceWorkerSet", "inferenceworkersets", "iws", WorkerSetSpec.class),
  POOL("InferencePool", "inferencepools", "ipool", PoolSpec.class),
  PROVIDER("InferenceProvider", "inferenceproviders", "iprov", ProviderSpec.class),
  BACKEND("GatewayBackend", "gatewaybackends", "gwb", BackendSpec.class),
  POLICY("InferencePolicy", "inferencepolicies", "ipol", PolicySpec.class),
  TENANT("InferenceTenant", "inferencetenants", "iten", TenantSpec.class);

  public static final String GROUP = ApiGroup.NAME;
  public static final String VERSION = ApiGroup.VERSION;
  public static final String API_VERSION = GROUP + "/" + VERSION;

  private final String kindName;
  private final String plural;
  private final String shortName;
  private final Class<? extends Record> specType;

  Kind(String kindName, String plural, String shortName, Class<? extends Record> specType) {
    this.kindName = kindName;
    this.plural = plural;
    this.shortName = shortName;
    this.specType = specType;
  }

  /** As in the {@code kind} field, for example InferencePool. */
  public String kindName() {
    return kindName;
  }

  /** As in URLs and RBAC rules, for example inferencepools. */
  public String plural() {
    return plural;
  }

  /** As in {@code kubectl get ipool}. */
  public String shortName() {
    return shortName;
  }

  public Class<? extends Record> specType() {
    return specType;
  }

  /** The kind with that exact {@link #kindName}, or null. */
  public static @Nullable Kind ofName(String kindName) {
    for (Kind kind : values()) {
      if (kind.kindName.equals(kindName)) {
        return kind;
      }
    }
    return null;
  }

  static List<String> names() {
    return Arrays.stream(values()).map(Kind::kindName).toList();
  }

  @Override
  public String toString() {
    return kindName;
  }
}
