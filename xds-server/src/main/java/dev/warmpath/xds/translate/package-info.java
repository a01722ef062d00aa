/**
 * {@code model} to Envoy's messages, one file for each thing: a pure function of its input, without
 * network, clock or state. Where the message classes are older than the Envoy that reads them, the
 * missing message is written field by field.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.xds.translate;
