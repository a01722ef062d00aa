/**
 * Chat templates: the part of Jinja that models' templates use, rendered as the engines' own
 * renderer does. What is not known is refused when a template is read, never guessed. Knows
 * templates and values; knows no request, no tokenizer.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.template;
