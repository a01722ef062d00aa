/** Root of module {@code cli}. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.cli;
