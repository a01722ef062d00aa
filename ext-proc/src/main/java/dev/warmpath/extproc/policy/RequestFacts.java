package dev.warmpath.extproc.policy;

import dev.warmpath.extproc.request.Dialect;
import java.util.Map;

/**
 * What policies see of a request.
 *
 * @param model the name that the client asked for
 * @param promptTokens estimate
 * @param maxTokens 0 where the client gave no limit
 * @param headers lower-case names; policies reach the allow-listed ones only
 */
public record RequestFacts(
    String model,
    String path,
    Dialect dialect,
    long promptTokens,
    long maxTokens,
    boolean stream,
    boolean tools,
    int images,
    int priority,
    Map<String, String> headers) {}
