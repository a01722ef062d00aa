package dev.warmpath.xds.plan;

import dev.warmpath.crds.resource.Reason;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;

/** Which status condition a problem's reason belongs to. */
public final class Conditions {
  /** Reasons of the plan itself, beside {@link Reason}. */
  public static final String SECRET_NOT_FOUND = "SecretNotFound";

  public static final String NOT_SUPPORTED = "NotSupported";
  public static final String DUPLICATE_KEY = "DuplicateApiKey";
  public static final String WORKERS_NOT_FOUND = "WorkersNotFound";

  private static final Set<String> REFERENCES =
      Arrays.stream(Reason.values())
          .filter(reason -> reason.condition() == Reason.Condition.ResolvedRefs)
          .map(Reason::name)
          .collect(Collectors.toSet());

  private Conditions() {}

  /** References between resources, and from resources to secrets and workers. */
  public static boolean isAboutReferences(String reason) {
    return REFERENCES.contains(reason)
        || reason.equals(SECRET_NOT_FOUND)
        || reason.equals(WORKERS_NOT_FOUND);
  }
}
