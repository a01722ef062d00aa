package dev.warmpath.crds.config;

import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Random values of record types, within what the types allow. */
public final class RandomRecords {
  private RandomRecords() {}

  public static <R extends Record> R of(Class<R> type, Random random) {
    try {
      RecordComponent[] components = type.getRecordComponents();
      var constructor =
          type.getDeclaredConstructor(
              Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
      @Nullable Object[] values = new Object[components.length];
      for (int i = 0; i < values.length; i++) {
        values[i] = value(components[i].getAnnotatedType(), random);
      }
      return constructor.newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static @Nullable Object value(AnnotatedType annotated, Random random) {
    if (annotated.isAnnotationPresent(Nullable.class) && random.nextInt(3) == 0) {
      return null;
    }
    Type type = annotated.getType();
    if (type instanceof ParameterizedType parameterized) {
      int size = random.nextInt(4);
      if (parameterized.getRawType() == List.class) {
        AnnotatedType item =
            ((AnnotatedParameterizedType) annotated).getAnnotatedActualTypeArguments()[0];
        List<@Nullable Object> items = new ArrayList<>();
        for (int i = 0; i < size; i++) {
          items.add(value(item, random));
        }
        return items;
      }
      Map<String, String> map = new LinkedHashMap<>();
      for (int i = 0; i < size; i++) {
        map.put(text(random), text(random));
      }
      return map;
    }
    Class<?> plain = (Class<?>) type;
    if (plain == String.class) {
      return text(random);
    } else if (plain == int.class || plain == Integer.class) {
      return random.nextInt();
    } else if (plain == long.class || plain == Long.class) {
      return random.nextLong();
    } else if (plain == double.class || plain == Double.class) {
      return random.nextDouble() * Math.pow(10, random.nextInt(12) - 4);
    } else if (plain == boolean.class) {
      return random.nextBoolean();
    } else if (plain == BigDecimal.class) {
      return new BigDecimal(new BigInteger(40, random), random.nextInt(10));
    } else if (plain == Duration.class) {
      return Duration.ofNanos(random.nextLong(Duration.ofDays(365).toNanos()));
    } else if (plain.isEnum()) {
      Object[] constants = plain.getEnumConstants();
      return constants[random.nextInt(constants.length)];
    }
    return of(plain.asSubclass(Record.class), random);
  }

  private static String text(Random random) {
    String alphabet = "ab-\"\\/\u0000\n é€\uD83D\uDE00{}[]:,";
    int[] codePoints = alphabet.codePoints().toArray();
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(8); i > 0; i--) {
      text.appendCodePoint(codePoints[random.nextInt(codePoints.length)]);
    }
    return text.toString();
  }
}
