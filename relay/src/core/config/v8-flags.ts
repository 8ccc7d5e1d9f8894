// Names the V8 flags of a relay, which allocates mostly buffers outside V8's heap.

/** Initial heap in megabytes, so that V8 collects less often. */
const INITIAL_HEAP_MB = 256
/** Major versions of Node that know the flags. Node does not start with an unknown one. */
const NODE_MAJORS: ReadonlySet<string> = new Set(['24', '25', '26'])

/**
 * Each TLS record and WebSocket message is a buffer. By default V8 collects the whole heap for each 32 MB of buffers,
 * however much of the heap is free. With these flags V8 counts buffers as part of the heap, which gets room for them.
 * docs/decisions/0011-v8-heap-options.md has the figures.
 */
export const V8_FLAGS: readonly string[] = NODE_MAJORS.has(process.versions.node.split('.')[0] ?? '')
  ? ['--external-memory-accounted-in-global-limit', `--initial-heap-size=${INITIAL_HEAP_MB}`, '--expose-gc']
  : []
