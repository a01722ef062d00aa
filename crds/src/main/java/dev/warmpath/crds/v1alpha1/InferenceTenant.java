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

/** {@link TenantSpec} and {@link TenantStatus} as a Kubernetes resource. */
@Group(ApiGroup.NAME)
@Version(ApiGroup.VERSION)
@Kind("InferenceTenant")
@Singular("inferencetenant")
@Plural("inferencetenants")
@ShortNames("iten")
@AdditionalPrinterColumn(
    name = "Keys",
    jsonPath = ".status.keys",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Priority",
    jsonPath = ".spec.priority",
    type = AdditionalPrinterColumn.Type.INTEGER,
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
public final class InferenceTenant extends CustomResource<TenantSpec, TenantStatus>
    implements Namespaced {
  @Override
  protected @Nullable TenantSpec initSpec() {
    return null;
  }

  @Override
  protected @Nullable TenantStatus initStatus() {
    return null;
  }
}
