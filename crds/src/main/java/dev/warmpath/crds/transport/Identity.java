package dev.warmpath.crds.transport;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/**
 * A certificate and its key from two files, for either end of a connection. Each handshake takes
 * what the files hold then; connections that exist are not touched. Thread-safe.
 */
public final class Identity extends X509ExtendedKeyManager {

  /** One content of the files. The alias names it, so that a handshake keeps to its own. */
  private record Pair(String alias, List<X509Certificate> chain, PrivateKey key) {}

  private final FollowedFiles<Pair> files;
  private final AtomicReference<@Nullable Pair> before = new AtomicReference<>();
  private volatile Pair current;

  private Identity(FollowedFiles<Pair> files) {
    this.files = files;
    current = files.get();
  }

  /**
   * Reads both files.
   *
   * @throws IOException if one cannot be read, or they do not belong together; names the file
   */
  public static Identity of(Path certificate, Path key) throws IOException {
    return new Identity(
        new FollowedFiles<>(
            List.of(certificate, key),
            contents -> pair(Pem.certificates(contents.get(0)), Pem.privateKey(contents.get(1)))));
  }

  private static Pair pair(List<X509Certificate> chain, PrivateKey key)
      throws GeneralSecurityException {
    X509Certificate own = chain.getFirst();
    if (!matches(own, key)) {
      throw new InvalidKeyException("the key is not the certificate's");
    }
    return new Pair(own.getSerialNumber().toString(16) + "-" + own.hashCode(), chain, key);
  }

  private static boolean matches(X509Certificate certificate, PrivateKey key)
      throws GeneralSecurityException {
    if (!certificate.getPublicKey().getAlgorithm().equals(key.getAlgorithm())) {
      return false;
    }
    Signature signature =
        Signature.getInstance(
            switch (key.getAlgorithm()) {
              case "RSA" -> "SHA256withRSA";
              case "EC" -> "SHA256withECDSA";
              default -> key.getAlgorithm();
            });
    byte[] sample = {1, 2, 3};
    signature.initSign(key);
    signature.update(sample);
    byte[] signed = signature.sign();
    signature.initVerify(certificate.getPublicKey());
    signature.update(sample);
    return signature.verify(signed);
  }

  private @Nullable String choose(@Nullable String... keyTypes) {
    Pair now = files.get();
    if (!now.equals(current)) {
      before.set(current);
      current = now;
    }
    for (String type : keyTypes) {
      if (now.key().getAlgorithm().equals(type)) {
        return now.alias();
      }
    }
    return null;
  }

  private @Nullable Pair named(@Nullable String alias) {
    Pair now = current;
    if (now.alias().equals(alias)) {
      return now;
    }
    Pair older = before.get();
    return older != null && older.alias().equals(alias) ? older : null;
  }

  @Override
  public @Nullable String chooseEngineServerAlias(
      String keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
    return choose(keyType);
  }

  @Override
  public @Nullable String chooseEngineClientAlias(
      String[] keyTypes, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
    return choose(keyTypes);
  }

  @Override
  public @Nullable String chooseServerAlias(
      String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
    return choose(keyType);
  }

  @Override
  public @Nullable String chooseClientAlias(
      String[] keyTypes, Principal @Nullable [] issuers, @Nullable Socket socket) {
    return choose(keyTypes);
  }

  @Override
  public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
    return aliases(keyType);
  }

  @Override
  public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
    return aliases(keyType);
  }

  private String @Nullable [] aliases(String keyType) {
    String alias = choose(keyType);
    return alias == null ? null : new String[] {alias};
  }

  @Override
  public X509Certificate @Nullable [] getCertificateChain(@Nullable String alias) {
    Pair pair = named(alias);
    return pair == null ? null : pair.chain().toArray(new X509Certificate[0]);
  }

  @Override
  public @Nullable PrivateKey getPrivateKey(@Nullable String alias) {
    Pair pair = named(alias);
    return pair == null ? null : pair.key();
  }
}
