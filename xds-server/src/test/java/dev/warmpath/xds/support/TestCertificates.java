package dev.warmpath.xds.support;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** A certificate authority of the test's own and a server certificate for {@code localhost}. */
public final class TestCertificates {
  private static final String PASSWORD = "only-a-test";

  private final Path folder;

  private TestCertificates(Path folder) {
    this.folder = folder;
  }

  public static TestCertificates create(Path folder) throws IOException {
    TestCertificates made = new TestCertificates(folder);
    made.keytool(
        "-genkeypair",
        "-alias",
        "ca",
        "-dname",
        "CN=Test CA",
        "-ext",
        "bc:c",
        "-keystore",
        "ca.p12",
        "-keyalg",
        "RSA");
    made.keytool("-exportcert", "-rfc", "-alias", "ca", "-keystore", "ca.p12", "-file", "ca.pem");
    made.keytool(
        "-genkeypair",
        "-alias",
        "server",
        "-dname",
        "CN=server",
        "-keystore",
        "server.p12",
        "-keyalg",
        "RSA");
    made.keytool("-certreq", "-alias", "server", "-keystore", "server.p12", "-file", "server.csr");
    made.keytool(
        "-gencert",
        "-alias",
        "ca",
        "-ext",
        "san=dns:localhost",
        "-rfc",
        "-keystore",
        "ca.p12",
        "-infile",
        "server.csr",
        "-outfile",
        "server.pem");
    made.keytool(
        "-importcert", "-noprompt", "-alias", "ca", "-keystore", "server.p12", "-file", "ca.pem");
    made.keytool(
        "-importcert",
        "-noprompt",
        "-alias",
        "server",
        "-keystore",
        "server.p12",
        "-file",
        "server.pem");
    return made;
  }

  public String authority() throws IOException {
    return Files.readString(folder.resolve("ca.pem"));
  }

  public SSLContext serverContext() throws IOException, GeneralSecurityException {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(folder.resolve("server.p12"))) {
      keys.load(in, PASSWORD.toCharArray());
    }
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(keys, PASSWORD.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    return context;
  }

  private void keytool(String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of(arguments));
    command.addAll(List.of("-storepass", PASSWORD, "-storetype", "PKCS12"));
    Process process =
        new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      if (process.waitFor() != 0) {
        throw new IllegalStateException(command + ": " + output);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
