/**
 * Cache events of engines over ZeroMQ: finds the publishers of a worker, decodes their batches,
 * notices what was lost and asks for it again. Knows nothing of routing: what it learns goes to a
 * sink.
 */
@org.jspecify.annotations.NullMarked
package dev.warmpath.extproc.kvevents;
