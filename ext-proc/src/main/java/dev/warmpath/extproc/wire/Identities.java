package dev.warmpath.extproc.wire;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.extproc.tenant.VerifiedIdentity;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Token claims that Envoy has verified and forwards as dynamic metadata. */
final class Identities {
  private Identities() {}

  /**
   * What the proxy has proven.
   *
   * @param headers lower-case names
   */
  static VerifiedIdentity read(ProcessingRequest message, Map<String, String> headers) {
    String principal = principal(headers.get(GatewayNames.PRINCIPAL_HEADER));
    Struct verified =
        message.getMetadataContext().getFilterMetadataMap().get(GatewayNames.TOKENS_NAMESPACE);
    if (verified == null) {
      return principal == null ? VerifiedIdentity.NONE : new VerifiedIdentity(List.of(), principal);
    }
    List<VerifiedIdentity.Token> tokens = new ArrayList<>();
    verified
        .getFieldsMap()
        .forEach((issuer, claims) -> {
          if (claims.hasStructValue()) {
            tokens.add(new VerifiedIdentity.Token(issuer, map(claims.getStructValue())));
          }
        });
    return new VerifiedIdentity(tokens, principal);
  }

  /**
   * An identity as it is, or the last URI of an {@code x-forwarded-client-cert}: the hop that is
   * nearest has verified it.
   */
  private static @Nullable String principal(@Nullable String given) {
    if (given == null || given.isBlank() || given.equals("-")) {
      return null;
    }
    String last = given.substring(given.lastIndexOf(',') + 1).strip();
    for (String part : last.split(";", -1)) {
      if (part.strip().startsWith("URI=")) {
        return part.strip().substring("URI=".length());
      }
    }
    return last.isEmpty() ? null : last;
  }

  @SuppressWarnings("NullAway") // claims hold null, as the receiving record says
  private static Map<String, Object> map(Struct struct) {
    Map<String, Object> map = HashMap.newHashMap(struct.getFieldsCount());
    struct.getFieldsMap().forEach((name, value) -> map.put(name, plain(value)));
    return map;
  }

  private static @Nullable Object plain(Value value) {
    return switch (value.getKindCase()) {
      case STRING_VALUE -> value.getStringValue();
      case NUMBER_VALUE -> value.getNumberValue();
      case BOOL_VALUE -> value.getBoolValue();
      case STRUCT_VALUE -> map(value.getStructValue());
      case LIST_VALUE -> {
        List<@Nullable Object> list = new ArrayList<>();
        value.getListValue().getValuesList().forEach(item -> list.add(plain(item)));
        yield list;
      }
      case NULL_VALUE, KIND_NOT_SET -> null;
    };
  }
}
