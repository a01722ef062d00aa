package dev.warmpath.simulator;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * What a worker that speaks TLS shows its clients: a certificate for {@code localhost}, made for
 * this process by the JDK's keytool and known to nobody else. With it a simulated worker looks like
 * an external provider.
 *
 * @param context of a server with that certificate
 * @param authorityPem what a client has to trust, in PEM
 */
public record TlsIdentity(SSLContext context, String authorityPem) {
  private static final String PASSWORD = "of-a-simulator";
  private static final String ALIAS = "simulator";

  /** Makes a new one, valid for a day. */
  public static TlsIdentity create() {
    try {
      Path folder = Files.createTempDirectory("simulator-tls-");
      Path store = folder.resolve("simulator.p12");
      try {
        generate(store);
        return read(store);
      } finally {
        Files.deleteIfExists(store);
        Files.delete(folder);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK can read what its keytool writes", e);
    }
  }

  private static void generate(Path store) throws IOException {
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                ALIAS,
                "-keyalg",
                "EC",
                // A curve that every TLS client offers.
                "-groupname",
                "secp256r1",
                "-dname",
                "CN=Simulated provider",
                "-ext",
                "san=dns:localhost",
                "-validity",
                "1",
                "-keystore",
                store.toString(),
                "-storetype",
                "PKCS12",
                "-storepass",
                PASSWORD)
            .redirectErrorStream(true)
            .start();
    String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      if (keytool.waitFor() != 0) {
        throw new IOException("keytool failed: " + output);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while keytool ran", e);
    }
  }

  private static TlsIdentity read(Path file) throws IOException, GeneralSecurityException {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(keys, PASSWORD.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    ByteArrayOutputStream pem = new ByteArrayOutputStream();
    pem.write("-----BEGIN CERTIFICATE-----\n".getBytes(StandardCharsets.US_ASCII));
    pem.write(
        Base64.getMimeEncoder(64, new byte[] {'\n'})
            .encode(keys.getCertificate(ALIAS).getEncoded()));
    pem.write("\n-----END CERTIFICATE-----\n".getBytes(StandardCharsets.US_ASCII));
    return new TlsIdentity(context, pem.toString(StandardCharsets.US_ASCII));
  }
}
