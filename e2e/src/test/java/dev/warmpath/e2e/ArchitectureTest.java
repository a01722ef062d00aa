package dev.warmpath.e2e;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Boundaries between modules and packages; each rule says why it stands. */
class ArchitectureTest {

  private static final List<String> MODULES =
      List.of("crds", "envoy", "xds", "extproc", "simulator", "benchmarks", "cli");

  private static JavaClasses product = new ClassFileImporter().importClasses();

  @BeforeAll
  static void read_the_classes() {
    product =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("dev.warmpath");
  }

  @Test
  void every_module_was_read() {
    for (String module : MODULES) {
      assertThat(
              product.stream().filter(c -> c.getPackageName().startsWith("dev.warmpath." + module)))
          .as("classes of %s", module)
          .isNotEmpty();
    }
  }

  @ParameterizedTest(name = "{0} does not depend on {1}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          crds       | envoy,xds,extproc,simulator,benchmarks,cli | it is the API that all others are written against
          envoy      | xds,extproc,simulator,benchmarks,cli       | it starts a binary and knows no plane
          xds        | extproc,envoy,simulator,benchmarks,cli     | the planes are deployed apart and meet only in crds
          extproc    | xds,envoy,simulator,benchmarks,cli         | the planes are deployed apart and meet only in crds
          simulator  | crds,envoy,xds,extproc,benchmarks,cli      | if it shared code with the gateway, both could be wrong in the same way
          benchmarks | cli                                        | the command starts benchmarks, not the other way round
          """)
  void modules_keep_apart(String module, String others, String reason) {
    String[] forbidden =
        List.of(others.split(",", -1)).stream()
            .map(other -> "dev.warmpath." + other.strip() + "..")
            .toArray(String[]::new);
    ArchRule rule =
        noClasses()
            .that()
            .resideInAPackage("dev.warmpath." + module + "..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(forbidden)
            .because(reason)
            .allowEmptyShould(true);
    rule.check(product);
  }

  @ParameterizedTest(name = "packages of {0} have no cycle")
  @CsvSource({"crds", "envoy", "xds", "extproc", "simulator", "benchmarks", "cli"})
  void packages_have_no_cycle(String module) {
    slices()
        .matching("dev.warmpath." + module + ".(*)..")
        .should()
        .beFreeOfCycles()
        .because("a reader must be able to read one package after the other")
        .allowEmptyShould(true)
        .check(product);
  }

  @Test
  void one_json_library_is_used() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "com.fasterxml.jackson.databind..", "com.fasterxml.jackson.core..", "com.google.gson..")
        .because("Jackson 3 is the one JSON library")
        .check(product);
  }

  @Test
  void the_decision_knows_no_wire_type() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "dev.warmpath.extproc.request..",
            "dev.warmpath.extproc.route..",
            "dev.warmpath.extproc.policy..",
            "dev.warmpath.extproc.label..",
            "dev.warmpath.extproc.tenant..",
            "dev.warmpath.extproc.predict..",
            "dev.warmpath.extproc.pick..",
            "dev.warmpath.extproc.inflight..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.envoyproxy..", "io.grpc..", "io.netty..")
        .because(
            "Envoy's types stay at the edge, so that replay runs the same decision without a proxy")
        .check(product);
  }

  @Test
  void the_data_plane_knows_no_cluster() {
    noClasses()
        .that()
        .resideInAPackage("dev.warmpath.extproc..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.fabric8.kubernetes.client..")
        .because("nothing on the request path talks to Kubernetes")
        .check(product);
  }

  @Test
  void nothing_sleeps() {
    noClasses()
        .that()
        .resideInAnyPackage("dev.warmpath.extproc..", "dev.warmpath.xds..", "dev.warmpath.crds..")
        .should()
        .callMethod(Thread.class, "sleep", long.class)
        .orShould()
        .callMethod(Thread.class, "sleep", java.time.Duration.class)
        .orShould()
        .callMethod(Math.class, "random")
        .because("time and chance are constructor arguments")
        .check(product);
  }
}
