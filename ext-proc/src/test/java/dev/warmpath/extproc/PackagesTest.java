package dev.warmpath.extproc;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;

/** Which package may know which, and why. */
@AnalyzeClasses(
    packages = "dev.warmpath.extproc",
    importOptions = ImportOption.DoNotIncludeTests.class)
class PackagesTest {
  private static final String ROOT = "dev.warmpath.extproc";

  @ArchTest
  static final ArchRule ENVOY_TYPES_STAY_AT_THE_EDGE =
      noClasses()
          .that()
          .resideOutsideOfPackages(
              ROOT + ".stream..", ROOT + ".wire..", ROOT + ".accesslog..", ROOT + ".warmup..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.envoyproxy..")
          .because("a decision must be testable, and replayable, without a proxy");

  @ArchTest
  static final ArchRule GRPC_STAYS_AT_THE_EDGE =
      noClasses()
          .that()
          .resideOutsideOfPackages(
              ROOT,
              ROOT + ".stream..",
              ROOT + ".accesslog..",
              ROOT + ".config..",
              ROOT + ".serve..",
              ROOT + ".warmup..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.grpc..", "io.netty..")
          .because("transport is the business of those who listen and call");

  @ArchTest
  static final ArchRule WIRE_IS_PURE =
      noClasses()
          .that()
          .resideInAPackage(ROOT + ".wire..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.grpc..",
              "io.netty..",
              "java.util.concurrent..",
              ROOT + ".stream..",
              ROOT + ".telemetry..",
              ROOT + ".config..")
          .because("translation has no thread, no socket and no counter");

  @ArchTest
  static final ArchRule THE_DECISION_KNOWS_NO_PROTOCOL =
      noClasses()
          .that()
          .resideInAnyPackage(
              ROOT + ".request..",
              ROOT + ".tenant..",
              ROOT + ".label..",
              ROOT + ".policy..",
              ROOT + ".candidate..",
              ROOT + ".index..",
              ROOT + ".lease..",
              ROOT + ".predict..",
              ROOT + ".pick..",
              ROOT + ".inflight..",
              ROOT + ".route..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              ROOT + ".stream..",
              ROOT + ".wire..",
              ROOT + ".response..",
              ROOT + ".accesslog..",
              ROOT + ".scrape..",
              ROOT + ".serve..",
              ROOT + ".admin..",
              ROOT + ".config..",
              ROOT + ".warmup..")
          .because("the path of a request is the same behind any proxy, and in replay");

  @ArchTest
  static final ArchRule RESPONSES_ARE_BYTES =
      classes()
          .that()
          .resideInAPackage(ROOT + ".response..")
          .should()
          .onlyDependOnClassesThat(
              resideInAPackage("java..")
                  .or(resideInAPackage(ROOT + ".response.."))
                  .or(resideInAPackage("tools.jackson.."))
                  .or(resideInAPackage("org.jspecify..")))
          .because("an event stream reads the same whoever sends it");

  @ArchTest
  static final ArchRule METERS_ARE_IN_ONE_PLACE =
      noClasses()
          .that()
          .resideOutsideOfPackage(ROOT + ".telemetry..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.micrometer..")
          .because("all names are in one file, and docs/metrics.md is compared with it");

  @ArchTest
  static final ArchRule NO_CYCLES =
      slices()
          .matching(ROOT + ".(*)..")
          .should()
          .beFreeOfCycles()
          .because("a reader must be able to read one package after the other");

  @ArchTest
  static final ArchRule TIME_AND_CHANCE_ARE_GIVEN =
      noClasses()
          .that()
          .doNotHaveFullyQualifiedName(ROOT + ".ExtProcServer")
          .should()
          .callMethod(System.class, "nanoTime")
          .orShould()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(Math.class, "random")
          .orShould()
          .callMethod(ThreadLocalRandom.class, "current")
          .orShould()
          .callConstructor(Random.class)
          .orShould()
          .callMethod(Thread.class, "sleep", long.class)
          .because("a test must be able to hold the clock and to choose the dice");
}
