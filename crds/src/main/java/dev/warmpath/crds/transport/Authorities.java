package dev.warmpath.crds.transport;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.function.Consumer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Trusts what the certificate authorities of one PEM file have signed, and nothing else. Each
 * handshake takes what the file holds then. Validity, chain and, at the client's end, the host name
 * are checked by the JDK. Thread-safe.
 */
public final class Authorities extends X509ExtendedTrustManager {

  /** A check that the JDK does. */
  private interface Check {
    void with(X509ExtendedTrustManager trust) throws CertificateException;
  }

  private final FollowedFiles<X509ExtendedTrustManager> file;
  private final Consumer<String> refused;

  private Authorities(FollowedFiles<X509ExtendedTrustManager> file, Consumer<String> refused) {
    this.file = file;
    this.refused = refused;
  }

  /**
   * Reads the file.
   *
   * @param refused gets why a certificate was refused, and whose it was
   * @throws IOException if it cannot be read or holds no certificate; names the file
   */
  public static Authorities of(Path file, Consumer<String> refused) throws IOException {
    return new Authorities(
        new FollowedFiles<>(
            List.of(file), contents -> trustManager(Pem.certificates(contents.getFirst()))),
        refused);
  }

  private static X509ExtendedTrustManager trustManager(List<X509Certificate> authorities)
      throws GeneralSecurityException {
    try {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      for (int i = 0; i < authorities.size(); i++) {
        store.setCertificateEntry("ca-" + i, authorities.get(i));
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(store);
      for (TrustManager manager : factory.getTrustManagers()) {
        if (manager instanceof X509ExtendedTrustManager extended) {
          return extended;
        }
      }
      throw new IllegalStateException("the JDK has no extended trust manager");
    } catch (IOException e) {
      throw new IllegalStateException("a new key store is read from nowhere", e);
    }
  }

  private void check(X509Certificate[] chain, Check check) throws CertificateException {
    try {
      check.with(file.get());
    } catch (CertificateException e) {
      String subject = chain.length == 0 ? "nobody" : chain[0].getSubjectX500Principal().getName();
      refused.accept("certificate of " + subject + ": " + e.getMessage());
      throw e;
    }
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    check(chain, trust -> trust.checkClientTrusted(chain, type, engine));
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    check(chain, trust -> trust.checkServerTrusted(chain, type, engine));
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    check(chain, trust -> trust.checkClientTrusted(chain, type, socket));
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    check(chain, trust -> trust.checkServerTrusted(chain, type, socket));
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
    check(chain, trust -> trust.checkClientTrusted(chain, type));
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
    check(chain, trust -> trust.checkServerTrusted(chain, type));
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return file.get().getAcceptedIssuers();
  }
}
