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

/** {@link ProviderSpec} and {@link ProviderStatus} as a Kubernetes resource. */
@Group(ApiGroup.NAME)
@Version(ApiGroup.VERSION)
@Kind("InferenceProvider")
@Singular("inferenceprovider")
@Plural("inferenceproviders")
@ShortNames("iprov")
@AdditionalPrinterColumn(
    name = "Type",
    jsonPath = ".spec.type",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Endpoint",
    jsonPath = ".spec.endpoint",
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
public final class InferenceProvider extends CustomResource<ProviderSpec, ProviderStatus>
    implements Namespaced {
  @Override
  protected @Nullable ProviderSpec initSpec() {
    return null;
  }

  @Override
  protected @Nullable ProviderStatus initStatus() {
    return null;
  }
}
