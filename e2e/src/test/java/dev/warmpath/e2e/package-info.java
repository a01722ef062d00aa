/** Tests on real parts. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.e2e;
