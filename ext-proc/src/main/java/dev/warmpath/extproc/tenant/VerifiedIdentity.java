package dev.warmpath.extproc.tenant;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the proxy has already proven about a caller. Never built from a header that a client can set
 * on an untrusted listener.
 *
 * @param tokens each token that Envoy's {@code jwt_authn} filter verified
 * @param principal identity given by the mesh (mTLS subject or identity header); null unless the
 *     listener is configured to trust it
 */
public record VerifiedIdentity(List<Token> tokens, @Nullable String principal) {
  /** Nothing is proven; only an API key can identify the caller. */
  public static final VerifiedIdentity NONE = new VerifiedIdentity(List.of(), null);

  /**
   * A verified token.
   *
   * @param issuer who signed it, and with which keys, as the proxy is configured
   * @param claims values are String, Double, Boolean, List, Map or null, as a protobuf Struct has
   *     them
   */
  public record Token(String issuer, Map<String, Object> claims) {}

  public VerifiedIdentity {
    tokens = List.copyOf(tokens);
  }
}
