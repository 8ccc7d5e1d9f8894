// V8 flags for a process that carries visitors' bytes, and so allocates mostly buffers outside V8's heap.

/** The major versions of Node that support the flags. Node does not start with an unknown flag. */
const NODE_MAJORS: ReadonlySet<string> = new Set(['24', '25', '26'])

/**
 * Each TLS record and WebSocket message is a buffer. By default V8 collects the whole heap for each 32 MB of buffers,
 * even if much of the heap is free. With these flags, V8 counts buffers as part of the heap, which gets room for them.
 * @param initialHeapMb initial heap in megabytes, so that V8 collects less often
 * @returns no flags for an unknown version of Node
 */
export function v8Flags(initialHeapMb: number): readonly string[] {
  if (!NODE_MAJORS.has(process.versions.node.split('.')[0] ?? '')) return []
  return [
    '--external-memory-accounted-in-global-limit',
    `--initial-heap-size=${initialHeapMb}`,
    '--expose-gc',
  ]
}
