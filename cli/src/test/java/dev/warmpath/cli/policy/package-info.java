/** Tests of the package with the same name. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.cli.policy;
