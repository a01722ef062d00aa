package dev.warmpath.cli;

import dev.warmpath.simulator.Simulator;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A recipe's file as the documentation shows it, with the addresses of what runs here in place of
 * those in it. Nothing of a policy is touched.
 */
final class RecipeConfiguration {
  /** The keys of the recipes' secrets. */
  static final String PROVIDER_KEY = "sk-of-the-provider";

  private String text;
  private String authorityPem = "";

  private RecipeConfiguration(String text) {
    this.text = text;
  }

  static RecipeConfiguration of(String recipe) throws IOException {
    try (InputStream in =
        RecipeConfiguration.class.getResourceAsStream("recipes/" + recipe + ".yaml")) {
      if (in == null) {
        throw new IOException("recipe " + recipe + " is not part of this build");
      }
      return new RecipeConfiguration(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  /** That simulator takes the place of the worker with that port. */
  void worker(int port, Simulator simulator) {
    text = text.replace("port: " + port + "}", "port: " + simulator.port() + "}");
  }

  /** The provider is at that address and shows a certificate of that authority. */
  void provider(URI endpoint, String authority) {
    authorityPem = authority;
    text =
        text.replace(
            "  type: OpenAI\n",
            "  type: OpenAI\n  endpoint: "
                + endpoint
                + "\n  tls: {caBundle: {secret: {name: cloud, key: ca.pem}}}\n");
  }

  /** Whether the recipe has a provider. */
  boolean hasProvider() {
    return text.contains("kind: InferenceProvider");
  }

  void write(Path folder) throws IOException {
    Files.writeString(folder.resolve("recipe.yaml"), text);
    secret(folder, "cloud/api-key", PROVIDER_KEY);
    secret(folder, "cloud/ca.pem", authorityPem);
    secret(folder, "interactive/api-key", key("interactive"));
    secret(folder, "nightly/api-key", key("nightly"));
  }

  /** The key that the tenant of that name has here. */
  static String key(String tenant) {
    return "sk-of-" + tenant;
  }

  private static void secret(Path folder, String path, String value) throws IOException {
    Path file = folder.resolve("secrets").resolve(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, value);
  }
}
