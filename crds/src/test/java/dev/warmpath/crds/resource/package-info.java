/** Tests of reading and validating resources. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.crds.resource;
