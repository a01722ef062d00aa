/**
 * Prompts as the engine's own token ids: reads a request as the engine would, renders its chat
 * template and tokenises. Where that cannot be done exactly it says so; it never estimates.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.prompt;
