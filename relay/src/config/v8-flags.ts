// Options of V8 that a relay is started with: most of what it allocates is buffers outside V8's heap.

/** A collector that has this much room does not hurry, in megabytes. */
const INITIAL_HEAP_MB = 256
/** Where the options are known to exist: Node does not start with one that it does not know. */
const NODE_MAJORS: ReadonlySet<string> = new Set(['24', '25', '26'])

/**
 * Every record of TLS and every message of a WebSocket is a buffer of its own. V8 collects the whole heap for each 32 MB
 * of them, however much of the heap is free; here it counts them as a part of the heap, and gives that room.
 * docs/decisions/0011-v8-heap-options.md has the figures.
 */
export const V8_FLAGS: readonly string[] = NODE_MAJORS.has(process.versions.node.split('.')[0] ?? '')
  ? ['--external-memory-accounted-in-global-limit', `--initial-heap-size=${INITIAL_HEAP_MB}`]
  : []
