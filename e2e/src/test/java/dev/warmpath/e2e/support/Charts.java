package dev.warmpath.e2e.support;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The charts of this repository, rendered by the real helm. */
public final class Charts {

  /** What a render takes the cluster for; without it helm assumes one that it was built for. */
  private static final String KUBE_VERSION = "1.37.2";

  private static final Pattern CERTIFICATE =
      Pattern.compile("\"((?:ca|tls)\\.(?:crt|key))\":\"[A-Za-z0-9+/=]+\"");
  private static final Pattern BUNDLE = Pattern.compile("caBundle: LS[A-Za-z0-9+/=]+");

  private Charts() {}

  public static Path folder(String chart) {
    return Repository.root().resolve("helm").resolve(chart);
  }

  /** {@code helm template} of the gateway's chart as release {@code warmpath}. */
  public static Warmpath.Result render(KubeApi api, String namespace, String... options)
      throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                "template",
                "warmpath",
                folder("warmpath").toString(),
                "--namespace=" + namespace,
                "--kube-version=" + KUBE_VERSION));
    command.addAll(List.of(options));
    return api.helm(command.toArray(String[]::new));
  }

  /** Without what is different each time: keys and certificates. */
  public static String withoutCertificates(String manifests) {
    String masked = CERTIFICATE.matcher(manifests).replaceAll("\"$1\":\"(made by helm)\"");
    return BUNDLE.matcher(masked).replaceAll("caBundle: (made by helm)");
  }

  /** The documents of a YAML stream; empty ones are left out. */
  @SuppressWarnings("unchecked") // manifests are maps
  public static List<Map<String, Object>> documents(String yaml) {
    List<Map<String, Object>> documents = new ArrayList<>();
    for (Object document :
        new Load(LoadSettings.builder().setCodePointLimit(16 << 20).build())
            .loadAllFromString(yaml)) {
      if (document != null) {
        documents.add((Map<String, Object>) document);
      }
    }
    return documents;
  }
}
