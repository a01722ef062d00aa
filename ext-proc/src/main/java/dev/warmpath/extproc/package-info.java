/** Root of module {@code ext-proc}. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc;
