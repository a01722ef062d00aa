/** {@code warmpath policy}: trying policies out before they are in force. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.cli.policy;
