/**
 * Text and tokens: a tokenizer of our own, the prompt as the engine sees it, and the words that
 * answers are made of. Knows nothing of HTTP or of the engine.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.simulator.text;
