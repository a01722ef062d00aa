/** Sockets and servers: how the gRPC services are listened for. Knows no service. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.serve;
