/** Tests of the prefix index. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.predict;
