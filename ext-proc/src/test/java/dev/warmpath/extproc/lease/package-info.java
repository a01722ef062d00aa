/** Tests of the account of load. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.lease;
