package dev.warmpath.crds.resource;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Constructor;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * What the annotations of a spec record say, read once per record class. The CRD generator reads
 * the same annotations, so file and API server agree. Immutable; shared by all threads.
 */
final class RecordSchema {
  private static final ClassValue<RecordSchema> CACHE =
      new ClassValue<>() {
        @Override
        protected RecordSchema computeValue(Class<?> type) {
          return new RecordSchema(type.asSubclass(Record.class));
        }
      };

  /** The shape of a value. */
  sealed interface Shape {
    record Text() implements Shape {}

    record WholeNumber(Class<?> type, long lowest, long highest) implements Shape {}

    record DecimalNumber(Class<?> type) implements Shape {}

    record Bool() implements Shape {}

    record DurationText() implements Shape {}

    record Choice(Class<? extends Enum<?>> type, List<String> names) implements Shape {}

    record Nested(Class<? extends Record> type) implements Shape {}

    record ListOf(Shape item, Limits itemLimits) implements Shape {}

    record MapOfText() implements Shape {}

    /** A value that is neither checked nor kept. */
    record Opaque() implements Shape {}
  }

  /** Bounds that the schema states; null or the widest value where it states none. */
  record Limits(
      @Nullable Min min,
      @Nullable Max max,
      @Nullable Size size,
      java.util.regex.@Nullable Pattern pattern) {
    static Limits of(AnnotatedElement element) {
      Pattern pattern = element.getAnnotation(Pattern.class);
      return new Limits(
          element.getAnnotation(Min.class),
          element.getAnnotation(Max.class),
          element.getAnnotation(Size.class),
          pattern == null ? null : java.util.regex.Pattern.compile(pattern.value()));
    }
  }

  /**
   * One component.
   *
   * @param defaultText YAML of the value of an absent field; null where there is none
   * @param defaultNode the default as the reader would have read it
   * @param absent what stands in the record when the field is absent and has no default
   * @param mayBeAbsent absent means null (or empty, for a list or map), not a fault
   */
  record Field(
      String name,
      Shape shape,
      boolean required,
      boolean mayBeAbsent,
      @Nullable String defaultText,
      @Nullable YamlNode defaultNode,
      @Nullable Object absent,
      Limits limits,
      String description) {}

  private final SequencedMap<String, Field> fields = new LinkedHashMap<>();
  private final List<ValidationRule> rules;
  private final Constructor<? extends Record> constructor;

  private RecordSchema(Class<? extends Record> type) {
    RecordComponent[] components = type.getRecordComponents();
    for (RecordComponent component : components) {
      fields.put(component.getName(), field(type, component));
    }
    rules = List.of(type.getAnnotationsByType(ValidationRule.class));
    try {
      constructor =
          type.getDeclaredConstructor(
              Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
      constructor.setAccessible(true);
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException("record without canonical constructor: " + type, e);
    }
  }

  static RecordSchema of(Class<? extends Record> type) {
    return CACHE.get(type);
  }

  Map<String, Field> fields() {
    return fields;
  }

  List<ValidationRule> rules() {
    return rules;
  }

  /** A record with these values in the order of {@link #fields}. */
  Record create(@Nullable Object[] values) {
    try {
      return constructor.newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("can't create " + constructor.getDeclaringClass(), e);
    }
  }

  private static Field field(Class<?> owner, RecordComponent component) {
    AnnotatedElement annotated = component.getAccessor();
    Shape shape = shape(component.getAnnotatedType(), component.getGenericType());
    Default defaultValue = annotated.getAnnotation(Default.class);
    JsonPropertyDescription description = annotated.getAnnotation(JsonPropertyDescription.class);
    boolean nullable =
        component.getAnnotatedType().isAnnotationPresent(org.jspecify.annotations.Nullable.class);
    boolean collection = shape instanceof Shape.ListOf || shape instanceof Shape.MapOfText;
    boolean required = annotated.isAnnotationPresent(Required.class);
    boolean mayBeAbsent = nullable || collection;
    if (!required && !mayBeAbsent && defaultValue == null) {
      throw new IllegalStateException(
          owner.getName() + "." + component.getName() + " needs @Required, @Default or @Nullable");
    }
    return new Field(
        component.getName(),
        shape,
        required,
        mayBeAbsent,
        defaultValue == null ? null : defaultValue.value(),
        defaultValue == null ? null : defaultNode(shape, defaultValue.value()),
        absent(shape, nullable),
        Limits.of(annotated),
        description == null ? "" : description.value());
  }

  private static @Nullable YamlNode defaultNode(Shape shape, String text) {
    return switch (shape) {
      case Shape.Text plain -> textNode(text);
      case Shape.Choice choice -> textNode(text);
      case Shape.DurationText duration -> textNode(text);
      default -> YamlReader.read(text).getFirst().root();
    };
  }

  private static YamlNode textNode(String text) {
    return new YamlNode.Scalar(0, text, YamlNode.ScalarType.STRING, false);
  }

  private static @Nullable Object absent(Shape shape, boolean nullable) {
    if (nullable) {
      return null;
    }
    return switch (shape) {
      case Shape.ListOf list -> List.of();
      case Shape.MapOfText map -> Map.of();
      default -> null;
    };
  }

  private static Shape shape(AnnotatedType annotated, Type type) {
    if (type instanceof ParameterizedType parameterized) {
      if (parameterized.getRawType() == List.class) {
        AnnotatedType item =
            ((AnnotatedParameterizedType) annotated).getAnnotatedActualTypeArguments()[0];
        return new Shape.ListOf(shape(item, item.getType()), Limits.of(item));
      }
      if (parameterized.getRawType() == Map.class
          && Arrays.equals(
              parameterized.getActualTypeArguments(), new Type[] {String.class, String.class})) {
        return new Shape.MapOfText();
      }
    } else if (type instanceof Class<?> plain) {
      return shape(plain);
    }
    throw new IllegalStateException("no schema for " + type);
  }

  @SuppressWarnings("unchecked")
  private static Shape shape(Class<?> type) {
    if (type == String.class) {
      return new Shape.Text();
    } else if (type == int.class || type == Integer.class) {
      return new Shape.WholeNumber(Integer.class, Integer.MIN_VALUE, Integer.MAX_VALUE);
    } else if (type == long.class || type == Long.class) {
      return new Shape.WholeNumber(Long.class, Long.MIN_VALUE, Long.MAX_VALUE);
    } else if (type == double.class || type == Double.class) {
      return new Shape.DecimalNumber(Double.class);
    } else if (type == BigDecimal.class) {
      return new Shape.DecimalNumber(BigDecimal.class);
    } else if (type == boolean.class || type == Boolean.class) {
      return new Shape.Bool();
    } else if (type == Duration.class) {
      return new Shape.DurationText();
    } else if (type.isEnum()) {
      Class<? extends Enum<?>> choice = (Class<? extends Enum<?>>) type;
      return new Shape.Choice(
          choice, Arrays.stream(choice.getEnumConstants()).map(Enum::name).toList());
    } else if (type.isRecord()) {
      return new Shape.Nested(type.asSubclass(Record.class));
    } else if (type == Object.class) {
      return new Shape.Opaque();
    }
    throw new IllegalStateException("no schema for " + type);
  }
}
