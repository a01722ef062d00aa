package dev.warmpath.e2e.support;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;

/**
 * A certificate authority of the test's own (RFC 5280, P-256, ECDSA with SHA-256). It writes keys
 * in each of the forms that tools write.
 */
public final class TestAuthority {

  /** A certificate and its key, both PEM. */
  public record Issued(String certificate, String key) {
    /** Puts both in place one after the other, each as a whole. */
    public Issued write(Path certificateFile, Path keyFile) throws IOException {
      put(certificateFile, certificate);
      put(keyFile, key);
      return this;
    }
  }

  /** What a key file looks like. */
  public enum KeyForm {
    PKCS8_EC,
    SEC1_EC,
    PKCS8_RSA,
    PKCS1_RSA
  }

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);
  private static final byte[] ECDSA_SHA256 = sequence(oid("2a8648ce3d040302"));
  private static final SecureRandom RANDOM = new SecureRandom();

  private final String name;
  private final KeyPair keys = keys(KeyForm.PKCS8_EC);
  private final String certificate;

  public TestAuthority(String name) {
    this.name = name;
    byte[] extensions =
        sequence(
            sequence(
                oid("551d13"),
                der(0x01, new byte[] {-1}),
                octets(sequence(der(0x01, new byte[] {-1})))));
    certificate =
        signed(name, keys, Instant.now().minusSeconds(3600), Duration.ofDays(30), extensions);
  }

  /** The authority's own certificate as PEM. */
  public String certificate() {
    return certificate;
  }

  /** A certificate that is valid now, for these DNS names and IP addresses. */
  public Issued issue(String subject, String... names) {
    return issue(subject, KeyForm.PKCS8_EC, Duration.ofDays(1), names);
  }

  /** One that ends so long after an hour ago. */
  public Issued issue(String subject, KeyForm form, Duration life, String... names) {
    KeyPair own = keys(form);
    ByteArrayOutputStream alternatives = new ByteArrayOutputStream();
    for (String alternative : names) {
      alternatives.writeBytes(
          Character.isDigit(alternative.charAt(0))
              ? der(0x87, address(alternative))
              : der(0x82, alternative.getBytes(StandardCharsets.US_ASCII)));
    }
    byte[] extensions =
        names.length == 0
            ? new byte[0]
            : sequence(sequence(oid("551d11"), octets(der(0x30, alternatives.toByteArray()))));
    return new Issued(
        signed(subject, own, Instant.now().minusSeconds(3600), life, extensions), pem(own, form));
  }

  /** Moves a text into place, as a mounted Secret changes. */
  public static Path put(Path file, String text) throws IOException {
    Path draft = file.resolveSibling(file.getFileName() + ".new");
    Files.writeString(draft, text);
    return Files.move(
        draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private String signed(
      String subject, KeyPair own, Instant from, Duration life, byte[] extensions) {
    try {
      byte[] body =
          sequence(
              der(0xa0, integer(BigInteger.TWO)),
              integer(new BigInteger(64, RANDOM)),
              ECDSA_SHA256,
              distinguished(name),
              sequence(time(from), time(from.plus(life))),
              distinguished(subject),
              own.getPublic().getEncoded(),
              extensions.length == 0 ? extensions : der(0xa3, extensions));
      Signature signature = Signature.getInstance("SHA256withECDSA");
      signature.initSign(keys.getPrivate());
      signature.update(body);
      byte[] signed = der(0x03, new byte[1], signature.sign());
      return pem("CERTIFICATE", sequence(body, ECDSA_SHA256, signed));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static KeyPair keys(KeyForm form) {
    try {
      boolean rsa = form == KeyForm.PKCS1_RSA || form == KeyForm.PKCS8_RSA;
      KeyPairGenerator generator = KeyPairGenerator.getInstance(rsa ? "RSA" : "EC");
      if (rsa) {
        generator.initialize(2048);
      } else {
        generator.initialize(new ECGenParameterSpec("secp256r1"));
      }
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String pem(KeyPair keys, KeyForm form) {
    byte[] pkcs8 = keys.getPrivate().getEncoded();
    return switch (form) {
      case PKCS8_EC, PKCS8_RSA -> pem("PRIVATE KEY", pkcs8);
      // The content of PKCS#8's octet string, which of a 2048-bit key begins after 26 bytes.
      case PKCS1_RSA ->
          pem("RSA PRIVATE KEY", java.util.Arrays.copyOfRange(pkcs8, 26, pkcs8.length));
      case SEC1_EC ->
          pem(
              "EC PRIVATE KEY",
              sequence(
                  integer(BigInteger.ONE),
                  octets(fixed(((ECPrivateKey) keys.getPrivate()).getS(), 32)),
                  der(0xa0, oid("2a8648ce3d030107"))));
    };
  }

  private static byte[] fixed(BigInteger value, int bytes) {
    byte[] out = new byte[bytes];
    byte[] in = value.toByteArray();
    int length = Math.min(in.length, bytes);
    System.arraycopy(in, in.length - length, out, bytes - length, length);
    return out;
  }

  private static byte[] distinguished(String commonName) {
    byte[] text = der(0x0c, commonName.getBytes(StandardCharsets.UTF_8));
    return sequence(der(0x31, sequence(oid("550403"), text)));
  }

  private static byte[] address(String literal) {
    try {
      return InetAddress.getByName(literal).getAddress();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static byte[] time(Instant at) {
    return der(0x18, TIME.format(at).getBytes(StandardCharsets.US_ASCII));
  }

  private static byte[] oid(String hex) {
    return der(0x06, HexFormat.of().parseHex(hex));
  }

  private static byte[] integer(BigInteger value) {
    return der(0x02, value.toByteArray());
  }

  private static byte[] octets(byte[] content) {
    return der(0x04, content);
  }

  private static byte[] sequence(byte[]... parts) {
    return der(0x30, parts);
  }

  private static byte[] der(int tag, byte[]... parts) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    List.of(parts).forEach(content::writeBytes);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(tag);
    int length = content.size();
    if (length >= 0x80) {
      out.write(length >= 0x100 ? 0x82 : 0x81);
    }
    if (length >= 0x100) {
      out.write(length >> 8);
    }
    out.write(length);
    out.writeBytes(content.toByteArray());
    return out.toByteArray();
  }

  private static String pem(String label, byte[] der) {
    return "-----BEGIN %s-----%n%s%n-----END %s-----%n"
        .formatted(label, Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der), label);
  }
}
