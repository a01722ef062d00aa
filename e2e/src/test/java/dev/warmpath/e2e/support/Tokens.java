package dev.warmpath.e2e.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.RSAPublicKey;
import java.util.Base64;

/** Signs tokens as an issuer does (RS256), and publishes its key. */
public final class Tokens {
  private final KeyPair keys;
  private final String keyId;

  public Tokens(String keyId) throws GeneralSecurityException {
    this.keyId = keyId;
    KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
    generator.initialize(2048);
    keys = generator.generateKeyPair();
  }

  /** The key set as JSON. */
  public String keySet() {
    RSAPublicKey key = (RSAPublicKey) keys.getPublic();
    return "{\"keys\":[{\"kty\":\"RSA\",\"use\":\"sig\",\"alg\":\"RS256\",\"kid\":\"%s\",\"n\":\"%s\",\"e\":\"%s\"}]}"
        .formatted(keyId, number(key.getModulus()), number(key.getPublicExponent()));
  }

  /** A token with these claims, which are JSON. */
  public String sign(String claims) throws GeneralSecurityException {
    String head =
        text("{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"" + keyId + "\"}") + "." + text(claims);
    Signature signature = Signature.getInstance("SHA256withRSA");
    signature.initSign(keys.getPrivate());
    signature.update(head.getBytes(UTF_8));
    return head + "." + base64(signature.sign());
  }

  /** The same without any signature, as {@code alg: none} has it. */
  public static String unsigned(String claims) {
    return text("{\"alg\":\"none\",\"typ\":\"JWT\"}") + "." + text(claims) + ".";
  }

  private static String number(BigInteger value) {
    byte[] bytes = value.toByteArray();
    int start = bytes[0] == 0 ? 1 : 0;
    byte[] magnitude = new byte[bytes.length - start];
    System.arraycopy(bytes, start, magnitude, 0, magnitude.length);
    return base64(magnitude);
  }

  private static String text(String json) {
    return base64(json.getBytes(UTF_8));
  }

  private static String base64(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }
}
