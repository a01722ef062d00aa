package dev.warmpath.extproc.route;

import dev.warmpath.extproc.index.PrefixIndex;
import dev.warmpath.extproc.predict.ArrivalRate;
import dev.warmpath.extproc.predict.ReuseModel;
import dev.warmpath.extproc.predict.TokenRatio;
import java.nio.charset.StandardCharsets;
import net.openhft.hashing.LongHashFunction;

/**
 * What is learnt of one model, whoever serves it. Looked up once for all workers of a prediction.
 *
 * <p>Guarded by the router's lock; {@link #tokensPerByte} may be read without it.
 */
final class LearntModel {
  private final String name;
  private final long hash;
  private final TokenRatio ratio = new TokenRatio();
  private final ReuseModel reuse;
  private final ArrivalRate arrivals = new ArrivalRate();

  LearntModel(String name, PrefixIndex index) {
    this.name = name;
    this.hash = LongHashFunction.xx3().hashBytes(name.getBytes(StandardCharsets.UTF_8));
    this.reuse = new ReuseModel(index);
  }

  /** The name that its workers know it under. */
  String name() {
    return name;
  }

  /** By which the index tells it from other models. */
  long hash() {
    return hash;
  }

  double tokensPerByte() {
    return ratio.tokensPerByte();
  }

  TokenRatio ratio() {
    return ratio;
  }

  ReuseModel reuse() {
    return reuse;
  }

  ArrivalRate arrivals() {
    return arrivals;
  }
}
