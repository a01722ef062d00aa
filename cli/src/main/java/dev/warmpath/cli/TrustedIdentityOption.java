package dev.warmpath.cli;

import dev.warmpath.cli.input.CommandException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** {@code --trust-identity-header}, the same for every command that starts an Envoy. */
final class TrustedIdentityOption {
  static final String NAME = "--trust-identity-header";
  static final String DESCRIPTION =
      "Request header in which a mesh in front says who calls (x-forwarded-client-cert: its last"
          + " URI). Only where nobody else can reach this listener; without it such headers say"
          + " nothing.";

  private TrustedIdentityOption() {}

  static @Nullable String checked(@Nullable String given) {
    if (given == null) {
      return null;
    }
    String name = given.toLowerCase(Locale.ROOT);
    if (!name.matches("[a-z0-9][a-z0-9-]*")) {
      throw new CommandException(2, NAME + ": not a header name: " + given);
    }
    return name;
  }
}
