package dev.warmpath.crds.config;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

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

  /**
   * Request header with labels ({@code pii=absent, complexity=simple}) of a tenant that may send
   * them; ignored from anybody else, and never sent on.
   */
  public static final String LABELS_HEADER = "x-warmpath-labels";

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

  /**
   * Custom tag of the access log: microseconds from the end of the upload to the upstream's first
   * body byte, {@code %COMMON_DURATION(DS_RX_END:US_RX_BODY_BEG:us)%}; absent where no body byte
   * came.
   */
  public static final String TAG_FIRST_BODY_MICROS = "first_body_us";

  /**
   * Custom tag of the access log: {@code %RESP(CONTENT-TYPE)%}; only an event stream's first byte
   * says something about the first token.
   */
  public static final String TAG_CONTENT_TYPE = "content_type";

  /** Custom tag of the access log: {@code %UPSTREAM_HOST%}, the last attempt's "ip:port". */
  public static final String TAG_UPSTREAM_HOST = "upstream_host";

  /** {@code log_name} of the gateway's access log stream. */
  public static final String ACCESS_LOG_NAME = "warmpath";

  /**
   * Request attributes that Envoy must send with the response headers on the watching stream
   * ({@code response_attributes}); a reply without the first was not written by an upstream.
   */
  public static final String ATTRIBUTE_UPSTREAM_ADDRESS = "upstream.address";

  public static final String ATTRIBUTE_ATTEMPT_COUNT = "upstream.request_attempt_count";
  public static final String ATTRIBUTE_RESPONSE_CODE = "response.code";

  /** Response headers of the processor's own replies; Envoy's mutation rules must allow them. */
  public static final String RETRY_AFTER_HEADER = "retry-after";

  public static final String SHOULD_RETRY_HEADER = "x-should-retry";
  public static final String REQUEST_ID_HEADER = "x-request-id";
  public static final String ANTHROPIC_REQUEST_ID_HEADER = "request-id";

  /** Static clusters of the bootstrap: the processor (decide, watch, access log), control plane. */
  public static final String PROCESSOR_CLUSTER = "warmpath_processor";

  public static final String XDS_CLUSTER = "warmpath_xds";

  /**
   * More custom tags of an access log entry, as texts; a tag whose value does not exist for a
   * request (no upstream, no body) is absent or "-". Names in {@code _us} hold whole microseconds.
   */
  public static final String TAG_DECISION_ID = "decision_id";

  public static final String TAG_REQUEST_ID = "request_id";

  /** The last attempt's cluster, and how many attempts there were. */
  public static final String TAG_UPSTREAM_CLUSTER = "upstream_cluster";

  public static final String TAG_ATTEMPTS = "attempts";

  /** Envoy's response flags (DC, UPE, UF, NC, …) and response code details. */
  public static final String TAG_FLAGS = "flags";

  public static final String TAG_DETAILS = "details";

  /** End of the upload to the upstream's response headers. */
  public static final String TAG_FIRST_HEADER_MICROS = "first_header_us";

  /** Start of the request to its last byte received: the upload. */
  public static final String TAG_UPLOAD_MICROS = "upload_us";

  /** End of the upload to the first byte sent upstream: the decision. */
  public static final String TAG_DECIDED_MICROS = "decided_us";

  /** Start of the request to the last byte sent to the client. */
  public static final String TAG_TOTAL_MICROS = "total_us";

  /**
   * In {@link #METADATA_NAMESPACE}, set by the decision when the clusters of a plan serve the model
   * under different names. The body goes to Envoy with the first cluster's name; an upstream filter
   * of each later cluster replaces it for that attempt only.
   *
   * <p>{@code models} is a struct: cluster name to the JSON string literal, quotes included, that
   * this cluster wants; a cluster that is content with the body as it is has no entry. {@code
   * model_start} and {@code model_end} are the byte offsets {@code [start, end)} of the literal in
   * the body as the processor answered it (after its edits).
   */
  public static final String MODELS_KEY = "models";

  public static final String MODEL_START_KEY = "model_start";
  public static final String MODEL_END_KEY = "model_end";

  /**
   * Dynamic metadata namespace in which upstream filters keep the request's own path, host and
   * scheme while an attempt at a provider has others. Nobody else writes it.
   */
  public static final String ORIGINAL_NAMESPACE = "warmpath.original";

  /**
   * {@code max_message_timeout} of the deciding filter: the longest that the processor may ask
   * Envoy to wait for one answer. A longer wish would be ignored.
   */
  public static final int MAX_MESSAGE_TIMEOUT_SECONDS = 600;

  /** Name of the token filter's configuration, which the control plane serves. */
  public static final String TOKENS_EXTENSION = "warmpath.tokens";

  /** Where Envoy's token filter leaves the claims of each token that it has verified. */
  public static final String TOKENS_NAMESPACE = "envoy.filters.http.jwt_authn";

  /**
   * Request header with the identity that a mesh in front has proven; set by Envoy alone, and only
   * on a listener that is configured to trust one.
   */
  public static final String PRINCIPAL_HEADER = "x-wp-principal";

  private GatewayNames() {}

  /**
   * Key of the claims in {@link #TOKENS_NAMESPACE}: who signs, and with which keys. Two tenants
   * that name one issuer with different keys don't share it, so that neither can make tokens for
   * the other.
   */
  public static String tokenIssuer(String issuer, String keysUri) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256")
              .digest((issuer + '\n' + keysUri).getBytes(StandardCharsets.UTF_8));
      return "issuer-" + HexFormat.of().formatHex(digest, 0, 12);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** Envoy cluster that the keys of a token issuer are fetched from. */
  public static String keysCluster(String tokenIssuer) {
    return "keys/" + tokenIssuer;
  }

  /** Envoy cluster of an InferencePool. */
  public static String poolCluster(String namespace, String name) {
    return "pool/" + namespace + "/" + name;
  }

  /** Envoy cluster of an InferenceProvider. */
  public static String providerCluster(String namespace, String name) {
    return "provider/" + namespace + "/" + name;
  }
}
