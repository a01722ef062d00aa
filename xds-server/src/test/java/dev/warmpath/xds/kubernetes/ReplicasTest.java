package dev.warmpath.xds.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.resource.Kind;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.xds.status.Standing;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReplicasTest {
  private static final Resource.Key POOL = new Resource.Key(Kind.POOL, "n", "p");

  @Test
  void anotherReplicaReadsWhatThisOneWrites() {
    List<Standing> gateways =
        List.of(
            new Standing("a", false, Set.of(), Map.of()),
            new Standing("b", false, Set.of(POOL), Map.of(POOL, "no \"such\" thing")),
            new Standing("c", true, Set.of(), Map.of()));

    assertThat(read(Replicas.write(gateways))).isEqualTo(gateways);
  }

  @Test
  void aGatewayThatLacksMoreThanCanBeSaidCountsAsLackingAll() {
    Set<Resource.Key> many =
        IntStream.range(0, 5000)
            .mapToObj(i -> new Resource.Key(Kind.POOL, "n", "pool-" + i))
            .collect(Collectors.toSet());

    String text = Replicas.write(List.of(new Standing("a", false, many, Map.of())));

    assertThat(text.length()).isLessThan(100_000);
    assertThat(read(text))
        .singleElement()
        .satisfies(standing -> assertThat(standing.lacks(POOL)).isTrue());
  }

  @Test
  void whatCannotBeReadIsNothing() {
    assertThat(read("{")).isEmpty();
    assertThat(Replicas.read(Map.of())).isEmpty();
    assertThat(Replicas.read(null)).isEmpty();
    assertThat(read("[{\"gateway\":\"a\",\"lacking\":[\"New/n/x\",\"odd\"]}]"))
        .containsExactly(new Standing("a", false, Set.of(), Map.of()));
  }

  @Test
  void aReplicaHasTheNameOfItsPodAndNoOtherHasTheSame() {
    Map<String, String> pod = Map.of("POD_NAME", "xds-7c9f.a", "POD_NAMESPACE", "system");

    Replica one = Replica.of(pod, "watched", "lease");
    Replica other = Replica.of(pod, "watched", "lease");

    assertThat(one.namespace()).isEqualTo("system");
    assertThat(one.identity()).matches("xds-7c9f-a-[0-9a-f]{8}").isNotEqualTo(other.identity());
    assertThat(Replica.of(Map.of(), "watched", "lease").namespace()).isEqualTo("watched");
  }

  private static List<Standing> read(String text) {
    return Replicas.read(Map.of(Replicas.ANNOTATION, text));
  }
}
