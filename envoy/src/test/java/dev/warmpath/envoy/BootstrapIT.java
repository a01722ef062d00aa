package dev.warmpath.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.crds.config.GatewayNames;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the renderer writes: the real Envoy accepts it, and it names what Java names. */
final class BootstrapIT {
  private static final BootstrapOptions LOCAL =
      BootstrapOptions.local("node-1", new Address.Tcp("127.0.0.1", 8080), Path.of("/tmp/wp"));

  @Test
  void envoyAcceptsEveryVariant() {
    EnvoyBinary envoy = EnvoyBinary.find();
    List<BootstrapOptions> variants =
        List.of(
            LOCAL,
            LOCAL.withAdmin(new Address.Tcp("127.0.0.1", 9901)),
            LOCAL
                .withProcessor(Address.parse("processor.example:9002"))
                .withXds(Address.parse("xds.example:18000")),
            LOCAL.withProcessor(Address.parse("[::1]:9002")).withBodyLimitBytes(1 << 20),
            LOCAL.withDecideTimeout(Duration.ofMillis(250)).withTrustedHops(2),
            BootstrapOptions.local(
                "a \"quoted\": { id } \u00fc #",
                new Address.Pipe(Path.of("/tmp/wp/in.sock")),
                Path.of("/tmp/wp")));
    for (BootstrapOptions variant : variants) {
      EnvoyBinary.Validation validation = envoy.validate(BootstrapRenderer.render(variant));
      assertThat(validation.valid()).as(variant + "\n" + validation.output()).isTrue();
    }
  }

  @Test
  void envoyNamesTheFaultyField() {
    String broken =
        BootstrapRenderer.render(LOCAL).replace("stat_prefix: watch", "stat_prefx: watch");
    EnvoyBinary.Validation validation = EnvoyBinary.find().validate(broken);
    assertThat(validation.valid()).isFalse();
    assertThat(validation.output()).contains("stat_prefx");
  }

  @Test
  void everySharedNameIsInTheBootstrap() throws IllegalAccessException {
    String bootstrap = BootstrapRenderer.render(LOCAL);
    List<String> missing = new ArrayList<>();
    for (Field field : GatewayNames.class.getFields()) {
      boolean constant = Modifier.isStatic(field.getModifiers()) && field.getType() == String.class;
      if (constant && !NOT_IN_BOOTSTRAP.contains(field.getName())) {
        String value = (String) field.get(null);
        if (!bootstrap.contains(value)) {
          missing.add(field.getName() + " = " + value);
        }
      }
    }
    assertThat(missing).isEmpty();
  }

  /** Between the processor and clusters that the control plane serves. */
  private static final List<String> NOT_IN_BOOTSTRAP =
      List.of(
          "DESTINATION_KEY",
          "SERVED_KEY",
          "MODELS_KEY",
          "MODEL_START_KEY",
          "MODEL_END_KEY",
          "ORIGINAL_NAMESPACE");

  @Test
  void accessLogTagsAreExactlyTheSharedOnes() throws IllegalAccessException {
    List<String> names = new ArrayList<>();
    for (Field field : GatewayNames.class.getFields()) {
      if (field.getName().startsWith("TAG_")) {
        names.add((String) field.get(null));
      }
    }
    List<String> rendered =
        java.util.regex.Pattern.compile("\\{ tag: ([a-z_]+),")
            .matcher(BootstrapRenderer.render(LOCAL))
            .results()
            .map(match -> match.group(1))
            .toList();
    assertThat(rendered).containsExactlyInAnyOrderElementsOf(names);
  }

  @Test
  void addressesAreRead() {
    assertThat(Address.parse("127.0.0.1:80")).isEqualTo(new Address.Tcp("127.0.0.1", 80));
    assertThat(Address.parse("[::1]:80"))
        .isEqualTo(new Address.Tcp("::1", 80))
        .hasToString("[::1]:80");
    assertThat(Address.parse("unix:/run/x.sock"))
        .isEqualTo(new Address.Pipe(Path.of("/run/x.sock")));
    assertThatThrownBy(() -> Address.parse("localhost")).hasMessageContaining("host:port");
    assertThatThrownBy(() -> Address.parse("localhost:http")).hasMessageContaining("port number");
    assertThatThrownBy(() -> Address.parse("unix:/" + "x".repeat(120))).hasMessageContaining("107");
  }
}
