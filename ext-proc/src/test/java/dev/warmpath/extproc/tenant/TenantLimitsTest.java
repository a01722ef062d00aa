package dev.warmpath.extproc.tenant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.TenantSpec;
import dev.warmpath.extproc.tenant.TenantLimits.Reached;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TenantLimitsTest {
  private final AtomicLong clock = new AtomicLong(-5);
  private final TenantLimits limits = new TenantLimits(clock::get);
  private int next;

  private static Tenant tenant(
      String name, @Nullable Long requests, @Nullable Long tokens, @Nullable Integer concurrent) {
    return Tenant.of(
        new RoutingConfiguration.Tenant(
            new RoutingConfiguration.Id("default", name, 1),
            new TenantSpec(
                List.of(),
                null,
                null,
                new TenantSpec.Models(List.of("*"), List.of()),
                Map.of(),
                new TenantSpec.Limits(requests, tokens, concurrent),
                null,
                0,
                false),
            List.of()));
  }

  private @Nullable Reached ask(Tenant tenant, long promptTokens) {
    return limits.admit("d" + next++, tenant, promptTokens);
  }

  @Test
  void nothingIsLimitedWhereNothingIsWritten() {
    Tenant free = tenant("free", null, null, null);
    for (int i = 0; i < 1000; i++) {
      assertThat(ask(free, 1_000_000)).isNull();
    }
  }

  @Test
  void requestsComeBackEvenlyAndOneTenantsUseIsNotAnothers() {
    Tenant red = tenant("red", 60L, null, null);
    Tenant blue = tenant("blue", 60L, null, null);
    for (int i = 0; i < 60; i++) {
      assertThat(ask(red, 1)).isNull();
    }

    Reached reached = Objects.requireNonNull(ask(red, 1));
    assertThat(reached.what()).isEqualTo("has used its 60 requests a minute");
    assertThat(reached.retryAfterSeconds()).isBetween(1, 2);
    assertThat(ask(blue, 1)).isNull();

    clock.addAndGet(TimeUnit.SECONDS.toNanos(reached.retryAfterSeconds()));
    assertThat(ask(red, 1)).isNull();
    clock.addAndGet(TimeUnit.HOURS.toNanos(1));
    for (int i = 0; i < 60; i++) {
      assertThat(ask(red, 1)).isNull();
    }
    assertThat(ask(red, 1)).isNotNull();
  }

  @Test
  void aLongAnswerIsPaidForByThoseAfterIt() {
    Tenant red = tenant("red", null, 600L, null);
    assertThat(limits.admit("long", red, 500)).isNull();
    assertThat(ask(red, 50)).isNull();

    limits.ended("long", 650);
    limits.ended("long", 650);

    Reached reached = Objects.requireNonNull(ask(red, 1));
    assertThat(reached.retryAfterSeconds()).isEqualTo(60);
    clock.addAndGet(TimeUnit.SECONDS.toNanos(59));
    assertThat(ask(red, 1)).isNotNull();
    clock.addAndGet(TimeUnit.SECONDS.toNanos(2));
    assertThat(ask(red, 1)).isNull();
  }

  @Test
  void aPlaceIsFreeAgainWhenItsRequestEndsOnce() {
    Tenant red = tenant("red", null, null, 2);
    assertThat(limits.admit("a", red, 1)).isNull();
    assertThat(limits.admit("b", red, 1)).isNull();
    assertThat(ask(red, 1)).isEqualTo(new Reached("runs its 2 requests at one time", 1));

    limits.ended("a", 10);
    limits.ended("a", 10);
    limits.ended("unknown", 10);

    assertThat(ask(red, 1)).isNull();
    assertThat(ask(red, 1)).isNotNull();
  }

  @Test
  void aRefusedRequestCostsNothing() {
    Tenant red = tenant("red", 1L, null, 1);
    assertThat(limits.admit("a", red, 1)).isNull();
    for (int i = 0; i < 10; i++) {
      assertThat(ask(red, 1)).isNotNull();
    }
    limits.ended("a", 0);
    clock.addAndGet(TimeUnit.SECONDS.toNanos(60));
    assertThat(ask(red, 1)).isNull();
  }
}
