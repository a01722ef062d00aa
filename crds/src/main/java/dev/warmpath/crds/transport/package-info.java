/**
 * How the planes prove to each other who they are: certificates and tokens in files that may be
 * replaced while both run. Knows the JDK's TLS only; gRPC and HTTP servers wrap it.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.crds.transport;
