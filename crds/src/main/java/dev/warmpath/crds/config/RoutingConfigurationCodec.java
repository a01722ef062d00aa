package dev.warmpath.crds.config;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.warmpath.crds.v1alpha1.Durations;
import io.fabric8.generator.annotation.Default;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * {@link RoutingConfiguration} as JSON. Equal values give equal bytes, so the bytes' SHA-256 is the
 * version. Stateless; any thread.
 *
 * <p>The two planes may be of different releases: fields that the reader does not know are ignored,
 * and fields that the writer did not know get their defaults.
 */
public final class RoutingConfigurationCodec {
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .addModule(
              new SimpleModule("warmpath")
                  .addSerializer(Duration.class, new DurationWriter())
                  .addDeserializer(Duration.class, new DurationReader()))
          .enable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
          .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
          .enable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN)
          // The scale of a price (0.20) is part of its text, hence of the version.
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(tools.jackson.databind.cfg.JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .changeDefaultPropertyInclusion(
              inclusion -> inclusion.withValueInclusion(JsonInclude.Include.NON_NULL))
          .build();

  private static final YAMLMapper DEFAULTS = YAMLMapper.builder().build();

  private RoutingConfigurationCodec() {}

  public static byte[] toJson(RoutingConfiguration configuration) {
    return MAPPER.writeValueAsBytes(configuration);
  }

  /**
   * Reads what {@link #toJson} wrote, possibly of another release.
   *
   * @throws MalformedConfigurationException with the place and the reason; the caller keeps what it
   *     had
   */
  public static RoutingConfiguration fromJson(byte[] json) throws MalformedConfigurationException {
    try {
      JsonNode tree = MAPPER.readTree(json);
      if (!(tree instanceof ObjectNode object)) {
        throw new MalformedConfigurationException("the configuration is not a JSON object", null);
      }
      complete(object, RoutingConfiguration.class);
      return MAPPER.treeToValue(object, RoutingConfiguration.class);
    } catch (JacksonException e) {
      throw new MalformedConfigurationException(e.getMessage(), e);
    }
  }

  /** Lower-case hex SHA-256 of the JSON. */
  public static String version(byte[] json) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(json));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  public static String version(RoutingConfiguration configuration) {
    return version(toJson(configuration));
  }

  /** The payload can't be read as a configuration of this release. */
  @SuppressWarnings("serial")
  public static final class MalformedConfigurationException extends Exception {
    MalformedConfigurationException(@Nullable String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** Gives absent components that can't be null their default. */
  private static void complete(ObjectNode object, Class<?> type) {
    for (RecordComponent component : type.getRecordComponents()) {
      String name = component.getName();
      JsonNode present = object.get(name);
      if (present == null || present.isNull()) {
        JsonNode absent = absentValue(component);
        if (absent == null) {
          continue;
        }
        object.set(name, absent);
        present = absent;
      }
      completeChild(present, component.getGenericType());
    }
  }

  private static void completeChild(JsonNode node, Type type) {
    if (type instanceof Class<?> plain && plain.isRecord() && node instanceof ObjectNode object) {
      complete(object, plain);
    } else if (type instanceof ParameterizedType list
        && list.getRawType() == List.class
        && node instanceof ArrayNode items) {
      for (JsonNode item : items) {
        completeChild(item, list.getActualTypeArguments()[0]);
      }
    }
  }

  private static @Nullable JsonNode absentValue(RecordComponent component) {
    // Null is written as absence, so what may be null stays absent.
    if (component.getAnnotatedType().isAnnotationPresent(Nullable.class)) {
      return null;
    }
    Default defaultValue = component.getAccessor().getAnnotation(Default.class);
    if (defaultValue != null) {
      boolean text =
          component.getType() == String.class
              || component.getType() == Duration.class
              || component.getType().isEnum();
      return text
          ? MAPPER.getNodeFactory().stringNode(defaultValue.value())
          : DEFAULTS.readTree(defaultValue.value());
    }
    if (component.getType() == List.class) {
      return MAPPER.createArrayNode();
    }
    return component.getType() == Map.class ? MAPPER.createObjectNode() : null;
  }

  private static final class DurationWriter extends ValueSerializer<Duration> {
    @Override
    public void serialize(Duration value, JsonGenerator json, SerializationContext context) {
      json.writeString(Durations.format(value));
    }
  }

  private static final class DurationReader extends ValueDeserializer<Duration> {
    @Override
    public Duration deserialize(JsonParser json, DeserializationContext context) {
      String text = json.getValueAsString();
      Duration duration = text == null ? null : Durations.parse(text);
      if (duration == null) {
        return (Duration)
            context.handleWeirdStringValue(
                Duration.class, String.valueOf(text), "not a duration such as 900ms or 1m30s");
      }
      return duration;
    }
  }
}
