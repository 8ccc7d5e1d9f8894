// Measures the memory of this process without its garbage, for tests that bound it.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** @returns bytes that are in use after a collection: of V8's heap, and of buffers outside of it */
export function collectedMemory(): { heap: number; buffers: number } {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // What the first collection finalizes is free after the second.
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return { heap: heapUsed, buffers: external }
}
