package dev.warmpath.simulator.engine;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The engines that can be chosen by name.
 *
 * <p>The L40S figures reproduce a published measurement (docs/simulator.md has the table). The A100
 * and H100 figures are estimates from data sheets and partial measurements: right in proportion,
 * not checked against a run.
 */
public final class EngineProfiles {
  public static final String DEFAULT = "l40s-qwen27b-fp8";

  private static final int KIB = 1024;
  private static final Map<String, EngineProfile> BY_NAME = new LinkedHashMap<>();

  static {
    StepModel l40s = StepModel.of(41.5, 0.383, 2.0e-9, 5, 64 * KIB, 650e9);
    // The real pool has about 198 blocks, of which recurrent state takes 6 of the 27 that a
    // 16,000-token prefix costs. Without modelled state the pool is smaller by that share.
    add(l40s(DEFAULT, l40s, new CacheModel(784, 154, true, 0, true)));
    add(l40s(DEFAULT + "-checkpoints", l40s, new CacheModel(784, 198, true, 3, true)));
    // Keys and values in 8 bits: half the bytes per token, so a block that must be as large as the
    // recurrent state holds twice the tokens.
    StepModel l40sFp8 = StepModel.of(41.5, 0.383, 2.0e-9, 5, 32 * KIB, 650e9);
    add(l40s(DEFAULT + "-kv8", l40sFp8, new CacheModel(1584, 127, true, 0, true)));
    add(l40s(DEFAULT + "-kv8-checkpoints", l40sFp8, new CacheModel(1584, 196, true, 3, true)));

    add(
        new EngineProfile(
            "a100-8b",
            10e6,
            5_000,
            StepModel.of(9, 0.10, 2.5e-9, 2, 144 * KIB, 1.53e12),
            new CacheModel(16, 24_500, false, 0, true),
            2048,
            256,
            131_072,
            0,
            0));
    add(
        new EngineProfile(
            "h100-8b-fp8",
            10e6,
            5_000,
            StepModel.of(4.8, 0.025, 6.6e-10, 1.5, 144 * KIB, 2.51e12),
            new CacheModel(16, 27_700, false, 0, true),
            8192,
            1024,
            131_072,
            0,
            0));
    add(
        new EngineProfile(
            "h100-70b-fp8-tp4",
            10e6,
            5_000,
            StepModel.of(17, 0.09, 7.4e-10, 3, 80 * KIB, 2.51e12),
            new CacheModel(16, 43_000, false, 0, true),
            8192,
            1024,
            131_072,
            0,
            0));
    add(
        new EngineProfile(
            "tiny",
            1e6,
            100,
            StepModel.of(2, 0.02, 1e-11, 0.2, 1, 1e12),
            new CacheModel(16, 8_192, false, 0, true),
            4096,
            4096,
            65_536,
            0,
            0));
    // No modelled time and no cache: what a proxy in front costs is all that a client can measure.
    add(
        new EngineProfile(
            "instant",
            0,
            0,
            new StepModel(0, 0, 0, 0, 0),
            new CacheModel(1 << 24, 1 << 16, false, 0, false),
            1 << 30,
            1 << 16,
            1 << 24,
            0,
            0));
  }

  private EngineProfiles() {}

  /** Every name, the default first. */
  public static List<String> names() {
    return List.copyOf(BY_NAME.keySet());
  }

  /** The profile called {@code name}. */
  public static EngineProfile named(String name) {
    EngineProfile profile = BY_NAME.get(name);
    if (profile == null) {
      throw new IllegalArgumentException(
          "no engine profile '" + name + "', choose one of " + String.join(", ", names()));
    }
    return profile;
  }

  private static EngineProfile l40s(String name, StepModel step, CacheModel cache) {
    return new EngineProfile(name, 10e6, 5_000, step, cache, 2048, 256, 262_144, 0, 0);
  }

  private static void add(EngineProfile profile) {
    BY_NAME.put(profile.name(), profile);
  }
}
