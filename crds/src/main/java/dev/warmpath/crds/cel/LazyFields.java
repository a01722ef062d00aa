package dev.warmpath.crds.cel;

import dev.cel.common.exceptions.CelAttributeNotFoundException;
import dev.cel.common.types.CelType;
import dev.cel.common.types.MapType;
import dev.cel.common.types.SimpleType;
import dev.cel.common.values.CelValue;
import dev.cel.common.values.SelectableValue;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A map of the caller's as the runtime takes it without copying: the runtime walks every entry of
 * an ordinary map before it reads one, which would run every classifier for one label. Asks {@code
 * get} and {@code containsKey} only.
 */
// One evaluation reads it, in one thread; what the map answers is for its owner to keep stable.
@SuppressWarnings("Immutable")
final class LazyFields extends CelValue implements Map<String, Object>, SelectableValue<String> {
  private static final CelType TYPE = MapType.create(SimpleType.STRING, SimpleType.DYN);

  private final Map<?, ?> fields;

  private LazyFields(Map<?, ?> fields) {
    this.fields = fields;
  }

  /** The value, wrapped if it is a map. */
  static @Nullable Object of(@Nullable Object value) {
    return value instanceof Map<?, ?> map && !(value instanceof LazyFields)
        ? new LazyFields(map)
        : value;
  }

  @Override
  public Object select(String field) {
    Object value = get(field);
    if (value == null) {
      throw CelAttributeNotFoundException.forFieldResolution(field);
    }
    return value;
  }

  @Override
  public Optional<Object> find(String field) {
    return Optional.ofNullable(get(field));
  }

  @Override
  public @Nullable Object get(@Nullable Object key) {
    return of(fields.get(key));
  }

  @Override
  public boolean containsKey(@Nullable Object key) {
    return fields.containsKey(key);
  }

  @Override
  public Object value() {
    return this;
  }

  @Override
  public boolean isZeroValue() {
    return false;
  }

  @Override
  public CelType celType() {
    return TYPE;
  }

  @Override
  public int size() {
    throw onlyByKey();
  }

  @Override
  public boolean isEmpty() {
    throw onlyByKey();
  }

  @Override
  public boolean containsValue(@Nullable Object value) {
    throw onlyByKey();
  }

  @Override
  public Set<String> keySet() {
    throw onlyByKey();
  }

  @Override
  public Collection<Object> values() {
    throw onlyByKey();
  }

  @Override
  public Set<Entry<String, Object>> entrySet() {
    throw onlyByKey();
  }

  @Override
  public @Nullable Object put(String key, Object value) {
    throw onlyByKey();
  }

  @Override
  public @Nullable Object remove(@Nullable Object key) {
    throw onlyByKey();
  }

  @Override
  public void putAll(Map<? extends String, ? extends Object> map) {
    throw onlyByKey();
  }

  @Override
  public void clear() {
    throw onlyByKey();
  }

  private static UnsupportedOperationException onlyByKey() {
    return new UnsupportedOperationException("it can be read by key only");
  }
}
