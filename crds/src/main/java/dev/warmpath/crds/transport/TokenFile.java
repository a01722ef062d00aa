package dev.warmpath.crds.transport;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Tokens that gateways show the control plane: one a line. A gateway sends the first; the control
 * plane accepts each, so that a token is replaced by adding the new one at the control plane, then
 * changing the gateways, then taking the old one away. The file is read again when it was replaced.
 * Thread-safe.
 */
public final class TokenFile {
  private static final String SCHEME = "Bearer ";

  /** What a header may carry (RFC 6750, b64token), and too long to be guessed. */
  private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/-]{16,4096}=*");

  private record Tokens(String first, List<byte[]> hashes) {}

  private final FollowedFiles<Tokens> file;

  private TokenFile(FollowedFiles<Tokens> file) {
    this.file = file;
  }

  /**
   * Reads the file.
   *
   * @throws IOException if it cannot be read or holds no usable token; names the file, never the
   *     token
   */
  public static TokenFile of(Path path) throws IOException {
    return new TokenFile(
        new FollowedFiles<>(List.of(path), contents -> tokens(contents.getFirst())));
  }

  private static Tokens tokens(String text) throws InvalidKeyException {
    List<String> tokens = text.lines().map(String::strip).filter(l -> !l.isEmpty()).toList();
    if (tokens.isEmpty()) {
      throw new InvalidKeyException("holds no token");
    }
    for (int i = 0; i < tokens.size(); i++) {
      if (!TOKEN.matcher(tokens.get(i)).matches()) {
        throw new InvalidKeyException(
            "line %d: a token is 16 to 4096 letters, digits or ._~+/-=".formatted(i + 1));
      }
    }
    return new Tokens(tokens.getFirst(), tokens.stream().map(TokenFile::sha256).toList());
  }

  /** Value of the header {@code authorization} that a gateway sends. */
  public String authorization() {
    return SCHEME + file.get().first();
  }

  /**
   * Whether a gateway that sent this header may have what it asks for. The time it takes depends on
   * the number of tokens alone, as hashes are compared and none is skipped.
   */
  public boolean accepts(@Nullable String authorization) {
    if (authorization == null || !authorization.startsWith(SCHEME)) {
      return false;
    }
    byte[] given = sha256(authorization.substring(SCHEME.length()));
    boolean found = false;
    for (byte[] hash : file.get().hashes()) {
      found |= MessageDigest.isEqual(hash, given);
    }
    return found;
  }

  private static byte[] sha256(String token) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
