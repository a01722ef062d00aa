/**
 * The {@code warmpath} command: one class for each subcommand, and {@code Standalone}, the whole
 * gateway in one process. Parses, prints and wires; decides nothing. Start at {@link
 * dev.warmpath.cli.Main}.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.cli;
