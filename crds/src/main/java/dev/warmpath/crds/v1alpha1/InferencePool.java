package dev.warmpath.crds.v1alpha1;

import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/** {@link PoolSpec} and {@link PoolStatus} as a Kubernetes resource. */
@Group(ApiGroup.NAME)
@Version(ApiGroup.VERSION)
@Kind("InferencePool")
@Singular("inferencepool")
@Plural("inferencepools")
@ShortNames("ipool")
@AdditionalPrinterColumn(
    name = "Model",
    jsonPath = ".spec.model",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Workers",
    jsonPath = ".status.workers",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Ready",
    jsonPath = ".status.ready",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Algorithm",
    jsonPath = ".spec.routing.algorithm",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Accepted",
    jsonPath = ".status.conditions[?(@.type==\"Accepted\")].status",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Programmed",
    jsonPath = ".status.conditions[?(@.type==\"Programmed\")].status",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Age",
    jsonPath = ".metadata.creationTimestamp",
    type = AdditionalPrinterColumn.Type.DATE)
@SuppressWarnings("serial")
public final class InferencePool extends CustomResource<PoolSpec, PoolStatus>
    implements Namespaced {
  @Override
  protected @Nullable PoolSpec initSpec() {
    return null;
  }

  @Override
  protected @Nullable PoolStatus initStatus() {
    return null;
  }
}
