package dev.warmpath.simulator.engine;

/**
 * Log-normal factors with median 1 that depend only on a seed and an index, so that a step takes
 * the same time however the simulation arrives at it.
 */
final class Noise {
  private final long seed;
  private final double deviation;

  Noise(long seed, double deviation) {
    this.seed = seed;
    this.deviation = deviation;
  }

  boolean exact() {
    return deviation == 0;
  }

  double factor(long index) {
    if (deviation == 0) {
      return 1;
    }
    long bits = BlockChain.mix(seed ^ BlockChain.mix(index + 0x9E3779B97F4A7C15L));
    double u = ((bits >>> 11) + 1) * 0x1.0p-53;
    double v = (BlockChain.mix(bits) >>> 11) * 0x1.0p-53;
    return Math.exp(deviation * Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v));
  }
}
