package dev.warmpath.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;

import tools.jackson.databind.JsonNode;

/** What an error must look like in each client dialect. */
public final class Errors {

  /** The API family a path belongs to. */
  public enum Shape {
    OPENAI,
    ANTHROPIC;

    public static Shape of(String path) {
      return path.startsWith("/v1/messages") ? ANTHROPIC : OPENAI;
    }
  }

  private Errors() {}

  /**
   * Fails unless the response is a well-formed error of that dialect, with text a person can use.
   */
  public static JsonNode assertShape(Shape shape, WireResponse response) {
    assertThat(response.header("content-type"))
        .as("content type of %s", response)
        .startsWith("application/json");
    JsonNode body = response.json();
    JsonNode error = body.path("error");
    assertThat(error.path("message").asString("")).as("message in %s", response).isNotBlank();
    assertThat(error.path("type").asString("")).as("type in %s", response).isNotBlank();
    switch (shape) {
      case OPENAI -> {
        assertThat(error.has("code")).as("code in %s", response).isTrue();
        assertThat(error.has("param")).as("param in %s", response).isTrue();
        assertThat(body.has("type")).as("top-level type in %s", response).isFalse();
        assertThat(response.header("x-request-id")).as("x-request-id of %s", response).isNotBlank();
      }
      case ANTHROPIC -> {
        assertThat(body.path("type").asString("")).as("type in %s", response).isEqualTo("error");
        assertThat(response.header("request-id")).as("request-id of %s", response).isNotBlank();
      }
    }
    return error;
  }
}
