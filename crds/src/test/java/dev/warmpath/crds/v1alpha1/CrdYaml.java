package dev.warmpath.crds.v1alpha1;

import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.crdv2.generator.CRDGenerator;
import io.fabric8.crdv2.generator.CRDPostProcessor;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceColumnDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;

/** Generates the CRDs from the records. */
final class CrdYaml {
  private static final String HEADER =
      "# Generated from dev.warmpath.crds.v1alpha1; GeneratedCrdsTest says how to regenerate it.\n";

  private static final List<Class<? extends HasMetadata>> CLASSES =
      List.of(
          InferenceWorkerSet.class,
          InferencePool.class,
          InferenceProvider.class,
          GatewayBackend.class,
          InferencePolicy.class,
          InferenceTenant.class);

  private CrdYaml() {}

  /** YAML by file name. */
  static SortedMap<String, String> generate(Path scratch) throws IOException {
    JsonMapper mapper = JsonMapper.builder().build();
    new CRDGenerator()
        .withObjectMapper(mapper, new LiteralDefaults(mapper))
        .withPostProcessor(new Finish())
        .customResourceClasses(List.copyOf(CLASSES))
        .inOutputDir(scratch.toFile())
        .detailedGenerate();
    SortedMap<String, String> yaml = new TreeMap<>();
    try (Stream<Path> files = Files.list(scratch)) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString().replace("-v1.yml", ".yaml");
        String text =
            Files.readString(file)
                .lines()
                .filter(line -> !line.startsWith("#"))
                .reduce("", (before, line) -> before + line + "\n");
        yaml.put(name, HEADER + text.replaceFirst("^---\n", ""));
      }
    }
    return yaml;
  }

  /** What the generator has no annotation for. */
  private static final class Finish implements CRDPostProcessor {
    @Override
    public HasMetadata process(HasMetadata crd, String version) {
      CustomResourceDefinition definition = (CustomResourceDefinition) crd;
      CustomResourceDefinitionVersion only = definition.getSpec().getVersions().getFirst();
      only.setAdditionalPrinterColumns(
          inDeclaredOrder(
              definition.getSpec().getNames().getKind(), only.getAdditionalPrinterColumns()));
      JSONSchemaProps schema = only.getSchema().getOpenAPIV3Schema();
      schema.setRequired(List.of("spec"));
      JSONSchemaProps conditions = property(property(schema, "status"), "conditions");
      // So that several writers can each own a condition by server-side apply.
      conditions.setXKubernetesListType("map");
      conditions.setXKubernetesListMapKeys(List.of("type"));
      return definition;
    }

    private static JSONSchemaProps property(JSONSchemaProps schema, String name) {
      return Objects.requireNonNull(schema.getProperties().get(name), name);
    }

    private static List<CustomResourceColumnDefinition> inDeclaredOrder(
        String kind, List<CustomResourceColumnDefinition> columns) {
      Class<?> declaring =
          CLASSES.stream()
              .filter(type -> type.getSimpleName().equals(kind))
              .findFirst()
              .orElseThrow();
      return Stream.of(declaring.getAnnotationsByType(AdditionalPrinterColumn.class))
          .map(declared ->
              columns.stream()
                  .filter(column -> column.getName().equals(declared.name()))
                  .findFirst()
                  .orElseThrow())
          .toList();
    }
  }

  /**
   * Takes defaults as they are written. The generator would read them as values of the Java type,
   * which gives {@code {}} the zeros of its components, and knows no durations of this form.
   */
  private static final class LiteralDefaults extends KubernetesSerialization {
    LiteralDefaults(JsonMapper mapper) {
      super(mapper, true);
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> T unmarshal(String text, Class<T> type) {
      boolean isText = type == String.class || type == java.time.Duration.class || type.isEnum();
      return isText ? (T) text : (T) super.unmarshal(text, Object.class);
    }
  }
}
