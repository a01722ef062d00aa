/** Tests of the contract between the planes. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.crds.config;
