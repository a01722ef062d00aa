package dev.warmpath.crds.transport;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads what certificate tools write: certificates, and private keys in PKCS#8 ({@code PRIVATE
 * KEY}, RFC 5958), PKCS#1 ({@code RSA PRIVATE KEY}, RFC 8017) and SEC 1 ({@code EC PRIVATE KEY},
 * RFC 5915). The JDK reads PKCS#8 only, so the other two are wrapped into it; Helm and cert-manager
 * write them by default.
 */
final class Pem {
  private static final Pattern BLOCK =
      Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \\1-----");

  private static final int DER_INTEGER = 0x02;
  private static final int DER_OCTETS = 0x04;
  private static final int DER_SEQUENCE = 0x30;
  private static final int DER_PARAMETERS = 0xa0;

  private static final byte[] VERSION_0 = {DER_INTEGER, 1, 0};

  /** AlgorithmIdentifier of rsaEncryption, with its NULL. */
  private static final byte[] RSA = HexFormat.of().parseHex("300d06092a864886f70d0101010500");

  /** The object identifier id-ecPublicKey. */
  private static final byte[] EC = HexFormat.of().parseHex("06072a8648ce3d0201");

  private Pem() {}

  /** All certificates of a text, in their order; at least one. */
  static List<X509Certificate> certificates(String text) throws GeneralSecurityException {
    CertificateFactory factory = CertificateFactory.getInstance("X.509");
    List<X509Certificate> found = new ArrayList<>();
    Matcher block = BLOCK.matcher(text);
    while (block.find()) {
      if (block.group(1).equals("CERTIFICATE")) {
        found.add(
            (X509Certificate)
                factory.generateCertificate(new ByteArrayInputStream(bytes(block.group(2)))));
      }
    }
    if (found.isEmpty()) {
      throw new CertificateException("holds no certificate in PEM form");
    }
    return found;
  }

  /** The first private key of a text. */
  static PrivateKey privateKey(String text) throws GeneralSecurityException {
    Matcher block = BLOCK.matcher(text);
    while (block.find()) {
      byte[] der = bytes(block.group(2));
      switch (block.group(1)) {
        case "PRIVATE KEY" -> {
          return ofPkcs8(der);
        }
        case "RSA PRIVATE KEY" -> {
          return ofPkcs8(element(DER_SEQUENCE, VERSION_0, RSA, element(DER_OCTETS, der)));
        }
        case "EC PRIVATE KEY" -> {
          byte[] algorithm = element(DER_SEQUENCE, EC, curve(der));
          return ofPkcs8(element(DER_SEQUENCE, VERSION_0, algorithm, element(DER_OCTETS, der)));
        }
        case "ENCRYPTED PRIVATE KEY" ->
            throw new InvalidKeySpecException("the private key is encrypted; give it without");
        default -> {} // EC PARAMETERS, certificates in the same file
      }
    }
    throw new InvalidKeySpecException("holds no private key in PEM form");
  }

  private static PrivateKey ofPkcs8(byte[] der) throws GeneralSecurityException {
    PKCS8EncodedKeySpec spec = new PKCS8EncodedKeySpec(der);
    InvalidKeySpecException failure = new InvalidKeySpecException("neither an RSA nor an EC key");
    for (String algorithm : List.of("RSA", "EC", "EdDSA")) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(spec);
      } catch (InvalidKeySpecException e) {
        failure.addSuppressed(e);
      }
    }
    throw failure;
  }

  /**
   * The curve's identifier out of {@code ECPrivateKey ::= SEQUENCE { INTEGER, OCTET STRING, [0]
   * parameters, [1] public key }}.
   */
  private static byte[] curve(byte[] der) throws InvalidKeySpecException {
    try {
      int at = contentAt(der, 0);
      while (at < der.length) {
        int content = contentAt(der, at);
        int end = content + lengthAt(der, at);
        if ((der[at] & 0xff) == DER_PARAMETERS) {
          return java.util.Arrays.copyOfRange(der, content, end);
        }
        at = end;
      }
    } catch (ArrayIndexOutOfBoundsException e) {
      throw new InvalidKeySpecException("the EC private key is cut short", e);
    }
    throw new InvalidKeySpecException("the EC private key does not name its curve");
  }

  private static int contentAt(byte[] der, int at) {
    int first = der[at + 1] & 0xff;
    return at + 2 + (first < 0x80 ? 0 : first & 0x7f);
  }

  private static int lengthAt(byte[] der, int at) {
    int first = der[at + 1] & 0xff;
    if (first < 0x80) {
      return first;
    }
    int length = 0;
    for (int i = 0; i < (first & 0x7f); i++) {
      length = (length << 8) | (der[at + 2 + i] & 0xff);
    }
    return length;
  }

  private static byte[] element(int tag, byte[]... contents) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    for (byte[] part : contents) {
      content.writeBytes(part);
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(tag);
    int length = content.size();
    if (length < 0x80) {
      out.write(length);
    } else if (length < 0x100) {
      out.write(0x81);
      out.write(length);
    } else {
      // A private key is far below 64 KiB.
      out.write(0x82);
      out.write(length >> 8);
      out.write(length);
    }
    out.writeBytes(content.toByteArray());
    return out.toByteArray();
  }

  private static byte[] bytes(String base64) throws InvalidKeySpecException {
    try {
      return Base64.getMimeDecoder().decode(base64.getBytes(StandardCharsets.US_ASCII));
    } catch (IllegalArgumentException e) {
      throw new InvalidKeySpecException("is not base64", e);
    }
  }
}
