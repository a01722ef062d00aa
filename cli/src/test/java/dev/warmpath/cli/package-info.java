/** Tests of the command line. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.cli;
