/**
 * What a worker says that its cache holds: a ledger of blocks kept from the engine's own events,
 * and how far it can be trusted. Knows block hashes and token ids; knows no socket, no request.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.kvcache;
