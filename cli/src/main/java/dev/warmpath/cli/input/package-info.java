/** What commands are given: files, and what is wrong with them in a sentence. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.cli.input;
