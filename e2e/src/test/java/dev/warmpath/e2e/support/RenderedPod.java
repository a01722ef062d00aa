package dev.warmpath.e2e.support;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The pod of a Deployment that an API server holds, run on this machine as a kubelet would: the
 * arguments of its containers, with its Secrets as files. Only what can't be the same here is
 * replaced: folders, addresses to listen on, and names that a cluster resolves.
 */
public final class RenderedPod {

  private final Deployment deployment;
  private final String podName;
  private final Path folder;
  private final Map<String, String> replacements = new LinkedHashMap<>();

  /** Mounts the Secrets and empty folders of the pod below {@code folder}. */
  public RenderedPod(KubernetesClient client, String namespace, String deployment, Path folder)
      throws IOException {
    this.folder = folder;
    this.deployment = client.apps().deployments().inNamespace(namespace).withName(deployment).get();
    podName = deployment + "-0";
    replacements.put("$(POD_NAME)", podName);
    for (Container container : containers().toList()) {
      for (VolumeMount mount : container.getVolumeMounts()) {
        mount(client, namespace, mount);
      }
    }
  }

  private void mount(KubernetesClient client, String namespace, VolumeMount mount)
      throws IOException {
    if (mount.getMountPath().equals("/tmp") || replacements.containsKey(mount.getMountPath())) {
      return;
    }
    // Sockets' paths are limited to about 100 characters.
    Path here = Files.createTempDirectory(folder, "v");
    Volume volume =
        spec().getVolumes().stream()
            .filter(known -> known.getName().equals(mount.getName()))
            .findFirst()
            .orElseThrow();
    if (volume.getSecret() != null) {
      Map<String, String> data =
          client
              .secrets()
              .inNamespace(namespace)
              .withName(volume.getSecret().getSecretName())
              .get()
              .getData();
      for (Map.Entry<String, String> entry : data.entrySet()) {
        Files.write(here.resolve(entry.getKey()), Base64.getDecoder().decode(entry.getValue()));
      }
    }
    replacements.put(mount.getMountPath(), here.toString());
  }

  private io.fabric8.kubernetes.api.model.PodSpec spec() {
    return deployment.getSpec().getTemplate().getSpec();
  }

  private Stream<Container> containers() {
    return Stream.concat(spec().getInitContainers().stream(), spec().getContainers().stream());
  }

  /** From now on this text of the arguments becomes that. */
  public void replace(String text, String by) {
    replacements.put(text, by);
  }

  public Path folderOf(String mountPath) {
    return Path.of(Tree.text(replacements, mountPath));
  }

  public String name() {
    return podName;
  }

  public String serviceAccount() {
    return spec().getServiceAccountName();
  }

  public Container container(String name) {
    return containers().filter(known -> known.getName().equals(name)).findFirst().orElseThrow();
  }

  /** Arguments of a container, as they are on this machine. */
  public List<String> arguments(String container) {
    return here(container(container).getArgs());
  }

  /** What follows the name of the main class in the container's preStop command. */
  public List<String> preStop(String container) {
    List<String> command = container(container).getLifecycle().getPreStop().getExec().getCommand();
    int main = command.indexOf("dev.warmpath.cli.Main");
    return here(command.subList(main + 1, command.size()));
  }

  private List<String> here(List<String> words) {
    List<String> replaced = new ArrayList<>();
    for (String word : words) {
      String text = word;
      for (Map.Entry<String, String> replacement : replacements.entrySet()) {
        text = text.replace(replacement.getKey(), replacement.getValue());
      }
      replaced.addAll(List.of(text.split("\n", -1)));
    }
    return replaced;
  }
}
