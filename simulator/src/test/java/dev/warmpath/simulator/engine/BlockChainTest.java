package dev.warmpath.simulator.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BlockChainTest {
  @Test
  void sequencesShareExactlyTheBlocksOfTheirCommonPrefix() {
    long[] a = BlockChain.ofSegments(new long[] {1, 2}, new int[] {1_000, 500}, 16);
    long[] b = BlockChain.ofSegments(new long[] {1, 3}, new int[] {1_000, 900}, 16);

    assertThat(BlockChain.sharedBlocks(a, b)).isEqualTo(1_000 / 16);
    assertThat(a).hasSize(1_500 / 16);
  }

  @Test
  void aLongerConversationExtendsTheChainOfAShorterOne() {
    long[] turn = BlockChain.ofSegments(new long[] {1, 2}, new int[] {777, 300}, 16);
    long[] next = BlockChain.ofSegments(new long[] {1, 2, 3, 4}, new int[] {777, 300, 40, 300}, 16);

    assertThat(BlockChain.sharedBlocks(turn, next)).isEqualTo(turn.length);
  }

  @Test
  void tokenChainsDependOnEveryTokenAndTheSalt() {
    int[] ids = new int[64];
    long[] plain = BlockChain.ofTokens(ids, 64, 16, 0);
    assertThat(BlockChain.sharedBlocks(plain, BlockChain.ofTokens(ids, 64, 16, 1))).isZero();

    ids[20] = 1;
    assertThat(BlockChain.sharedBlocks(plain, BlockChain.ofTokens(ids, 64, 16, 0))).isEqualTo(1);
  }
}
