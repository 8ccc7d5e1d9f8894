// Returns memory to the system when the process has worked and is idle again.

import { IDLE_CHECK_INTERVAL_MS, IDLE_UTILIZATION_MAX, WORK_BEFORE_COLLECTION_MS } from '../limits.ts'

/**
 * Collects the whole heap once after each burst of work. V8 keeps the garbage of a start or of a busy minute for as long as
 * nothing allocates, and the young generation at its largest size. Without V8's flag `--expose-gc` this does nothing.
 * @param intervalMs between two looks at whether the process is idle
 * @returns a function that ends it
 */
export function collectWhenIdle({
  collect = globalThis.gc,
  intervalMs = IDLE_CHECK_INTERVAL_MS,
}: {
  collect?: NodeJS.GCFunction | undefined
  intervalMs?: number
} = {}): () => void {
  if (collect === undefined) return () => {}
  let workedMs = 0
  let lastMs = 0
  const timer = setInterval(() => {
    const totalMs = processorTimeMs()
    const sinceMs = totalMs - lastMs
    lastMs = totalMs
    workedMs += sinceMs
    if (sinceMs > intervalMs * IDLE_UTILIZATION_MAX || workedMs < WORK_BEFORE_COLLECTION_MS) return
    workedMs = 0
    // Only this flavor makes the young generation small again.
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  }, intervalMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** @returns milliseconds of processor time since the process began */
function processorTimeMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
