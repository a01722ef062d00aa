package dev.warmpath.extproc.tenant;

/** Outcome of asking who calls. */
public sealed interface Identification {

  record Identified(Tenant tenant, Means means) implements Identification {}

  /**
   * Answered with 401 in the client's dialect.
   *
   * @param reason for the client; says what to send, never what was wrong with a key
   */
  record Unauthorized(String reason) implements Identification {}

  /**
   * Who calls is proven, and is no tenant: 403 in the client's dialect.
   *
   * @param reason for the client
   */
  record Forbidden(String reason) implements Identification {}

  /** How a tenant was recognised; part of the decision record. */
  enum Means {
    OPEN_GATEWAY,
    API_KEY,
    TOKEN,
    MESH_IDENTITY
  }
}
