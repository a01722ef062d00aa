package dev.warmpath.extproc.wire;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.warmpath.extproc.tenant.VerifiedIdentity;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Token claims that Envoy has verified and forwards as dynamic metadata. */
final class Identities {
  private static final String JWT_NAMESPACE = "envoy.filters.http.jwt_authn";

  private Identities() {}

  static VerifiedIdentity read(ProcessingRequest message) {
    if (!message.hasMetadataContext()) {
      return VerifiedIdentity.NONE;
    }
    Struct tokens = message.getMetadataContext().getFilterMetadataMap().get(JWT_NAMESPACE);
    if (tokens == null) {
      return VerifiedIdentity.NONE;
    }
    List<Map<String, Object>> claims = new ArrayList<>();
    for (Value token : tokens.getFieldsMap().values()) {
      if (token.hasStructValue()) {
        claims.add(map(token.getStructValue()));
      }
    }
    return new VerifiedIdentity(claims, null);
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
