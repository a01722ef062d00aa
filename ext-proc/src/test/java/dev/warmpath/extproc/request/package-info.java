/** Tests of reading and fingerprinting requests. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.request;
