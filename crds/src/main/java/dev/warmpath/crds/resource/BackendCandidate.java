package dev.warmpath.crds.resource;

import dev.warmpath.crds.cel.CelOutcome;
import dev.warmpath.crds.cel.Compiled;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import java.util.HashMap;
import java.util.Map;

/** A backend as policies see it before any request: by name, labels and target. */
record BackendCandidate(Resource<BackendSpec> resource, String model, Map<String, Object> fields) {
  /** The label that the gateway sets itself. */
  private static final String EXTERNAL = "external";

  static BackendCandidate of(Resource<BackendSpec> resource, ResourceSet resources) {
    BackendSpec spec = resource.spec();
    Map<String, Object> fields = new HashMap<>();
    String model = "";
    fields.put("name", resource.name());
    fields.put("pool", "");
    fields.put("provider", "");
    if (spec.pool() != null) {
      fields.put("pool", spec.pool().name());
      var pool = resources.pool(resource.namespace(), spec.pool().name());
      model = pool == null ? "" : pool.spec().model();
    } else if (spec.provider() != null) {
      fields.put("provider", spec.provider().name());
      model = spec.provider().model();
    }
    fields.put("model", model);
    fields.put(EXTERNAL, spec.provider() != null);
    Map<String, String> labels = new HashMap<>(spec.labels());
    labels.put(EXTERNAL, String.valueOf(spec.provider() != null));
    fields.put("labels", labels);
    if (spec.pricing() != null) {
      Map<String, Object> pricing = new HashMap<>();
      pricing.put("currency", spec.pricing().currency());
      pricing.put("inputPerMillion", spec.pricing().inputPerMillion().doubleValue());
      pricing.put("outputPerMillion", spec.pricing().outputPerMillion().doubleValue());
      if (spec.pricing().cachedInputPerMillion() != null) {
        pricing.put("cachedInputPerMillion", spec.pricing().cachedInputPerMillion().doubleValue());
      }
      fields.put("pricing", pricing);
    }
    return new BackendCandidate(resource, model, fields);
  }

  boolean isLocal() {
    return resource.spec().pool() != null;
  }

  boolean selectedBy(PolicySpec.BackendSelector selector) {
    if (!selector.names().isEmpty() && !selector.names().contains(resource.name())) {
      return false;
    }
    return !(fields.get("labels") instanceof Map<?, ?> labels)
        || selector.labels().entrySet().stream()
            .allMatch(wanted -> wanted.getValue().equals(labels.get(wanted.getKey())));
  }

  /**
   * Whether the expression cuts the backend for every request: it holds though nothing but the
   * backend is known.
   */
  boolean alwaysCutBy(Compiled exclude) {
    CelOutcome outcome = exclude.evaluate(variable -> variable.equals("backend") ? fields : null);
    return outcome.equals(new CelOutcome.Answer(true));
  }
}
