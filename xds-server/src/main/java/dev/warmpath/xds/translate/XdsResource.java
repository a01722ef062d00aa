package dev.warmpath.xds.translate;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Message;
import dev.warmpath.crds.resource.Resource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Set;

/**
 * One Envoy resource. Its version is the SHA-256 of its bytes, so that every control plane gives
 * the same content the same version, whatever its history.
 *
 * @param owner the resource of the user's that it comes from
 * @param endpoints for a load assignment the addresses in it, else empty
 * @param secrets for a cluster the secrets that it waits for, else empty
 */
public record XdsResource(
    XdsType type,
    String name,
    String version,
    Any body,
    Resource.Key owner,
    Set<String> endpoints,
    Set<String> secrets) {
  public XdsResource {
    endpoints = Set.copyOf(endpoints);
    secrets = Set.copyOf(secrets);
  }

  static XdsResource of(XdsType type, String name, Message message, Resource.Key owner) {
    ByteString bytes = deterministic(message);
    Any body = Any.newBuilder().setTypeUrl(type.url()).setValue(bytes).build();
    return new XdsResource(type, name, sha256(bytes), body, owner, Set.of(), Set.of());
  }

  XdsResource withEndpoints(Set<String> addresses) {
    return new XdsResource(type, name, version, body, owner, addresses, secrets);
  }

  XdsResource withSecrets(Set<String> secretNames) {
    return new XdsResource(type, name, version, body, owner, endpoints, secretNames);
  }

  /** Bytes that do not depend on the order in which a map was filled. */
  static ByteString deterministic(Message message) {
    try {
      byte[] bytes = new byte[message.getSerializedSize()];
      CodedOutputStream out = CodedOutputStream.newInstance(bytes);
      out.useDeterministicSerialization();
      message.writeTo(out);
      out.checkNoSpaceLeft();
      return ByteString.copyFrom(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException("an array of the right size can't overflow", e);
    }
  }

  private static String sha256(ByteString bytes) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(bytes.asReadOnlyByteBuffer());
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  @Override
  public String toString() {
    return type + " " + name + "@" + version.substring(0, 8);
  }
}
