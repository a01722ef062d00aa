/**
 * Reading the begin of a response: is the first server-sent event a token or an error. Knows bytes,
 * not who sent them.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.response;
