/** The server as clients, tests and gateways meet it. */
@org.jspecify.annotations.NullMarked
package dev.warmpath.simulator.server;
