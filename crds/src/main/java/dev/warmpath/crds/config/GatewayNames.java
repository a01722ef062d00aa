package dev.warmpath.crds.config;

/**
 * Names that Envoy's configuration, the control plane and the external processor must agree on. The
 * bootstrap holds them as text; a test compares.
 */
public final class GatewayNames {
  /** Header that carries the chosen Envoy cluster of a {@link #ROUTE_CLUSTER} route. */
  public static final String CLUSTER_HEADER = "x-wp-cluster";

  /**
   * Header that selects the route after the decision: {@link #ROUTE_CLUSTER} or {@link
   * #ROUTE_PLAN}.
   */
  public static final String ROUTE_HEADER = "x-wp-route";

  /** One cluster, named by {@link #CLUSTER_HEADER}. */
  public static final String ROUTE_CLUSTER = "cluster";

  /** An ordered list of clusters, in metadata namespace {@link #PLAN_NAMESPACE}. */
  public static final String ROUTE_PLAN = "plan";

  /**
   * Every header with one of these prefixes is removed from client requests before any filter runs.
   */
  public static final String INTERNAL_PREFIX = "x-wp-";

  /** Response header with the id for {@code warmpath explain}. */
  public static final String DECISION_HEADER = "x-warmpath-decision";

  /**
   * Dynamic metadata namespace of the decision: {@link #DECISION_KEY} and what the access log
   * wants.
   */
  public static final String METADATA_NAMESPACE = "warmpath";

  public static final String DECISION_KEY = "decision_id";

  /** Dynamic metadata namespace that the priority_group cluster specifier reads. */
  public static final String PLAN_NAMESPACE = "warmpath.route";

  /** Dynamic metadata namespace and key of the ordered endpoint list ("ip:port,ip:port"). */
  public static final String LB_NAMESPACE = "envoy.lb";

  public static final String DESTINATION_KEY = "x-gateway-destination-endpoint";
  public static final String SERVED_KEY = "x-gateway-destination-endpoint-served";

  /**
   * Prefix of response code details of replies that the processor wrote; local reply mapping leaves
   * them alone.
   */
  public static final String REPLY_DETAILS_PREFIX = "wp_";

  /** gRPC initial metadata key that tells which filter opened a stream, and its values. */
  public static final String ROLE_KEY = "x-wp-role";

  public static final String ROLE_DECIDE = "decide";
  public static final String ROLE_WATCH = "watch";

  /**
   * Dynamic metadata namespace in which Envoy's own usage filter (Lua, so that streams outlive the
   * processor) reports what it read from the response: the keys below. The access log carries it to
   * the processor.
   */
  public static final String USAGE_NAMESPACE = "warmpath.usage";

  /** Numbers; absent where the upstream did not say. */
  public static final String USAGE_PROMPT_TOKENS = "prompt_tokens";

  public static final String USAGE_CACHED_TOKENS = "cached_tokens";
  public static final String USAGE_COMPLETION_TOKENS = "completion_tokens";

  /**
   * Boolean: the stream's own end marker was relayed ([DONE], message_stop, response.completed).
   */
  public static final String USAGE_DONE = "done";

  /** Number: code of an error event under HTTP 200, for example 503. */
  public static final String USAGE_ERROR_CODE = "error_code";

  /**
   * Boolean in {@link #METADATA_NAMESPACE}, set by the decision: the usage chunk was asked for by
   * the gateway, so the usage filter removes it from the stream.
   */
  public static final String STRIP_USAGE_KEY = "strip_usage";

  private GatewayNames() {}

  /** Envoy cluster of an InferencePool. */
  public static String poolCluster(String namespace, String name) {
    return "pool/" + namespace + "/" + name;
  }

  /** Envoy cluster of an InferenceProvider. */
  public static String providerCluster(String namespace, String name) {
    return "provider/" + namespace + "/" + name;
  }
}
