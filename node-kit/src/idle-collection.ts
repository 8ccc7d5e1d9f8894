// Returns memory to the system when the process has worked and is idle again.

/** The interval of the idle check, in milliseconds. */
const CHECK_INTERVAL_MS = 10_000
/** The share of the interval for which an idle process may use a processor: keepalives take less. */
const UTILIZATION_MAX = 0.02
/** Milliseconds of processor time after which a collection of the whole heap is worth its 30 ms. */
const WORK_BEFORE_COLLECTION_MS = 200

/**
 * Collects the whole heap once after each burst of work. V8 keeps the garbage of a start or of a busy minute as long as
 * nothing allocates, and the young generation at its largest size. Without V8's flag `--expose-gc` this does nothing.
 * @param intervalMs the interval of the idle check, in milliseconds
 * @returns a function that stops it
 */
export function collectWhenIdle({
  collect = globalThis.gc,
  intervalMs = CHECK_INTERVAL_MS,
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
    if (sinceMs > intervalMs * UTILIZATION_MAX || workedMs < WORK_BEFORE_COLLECTION_MS) return
    workedMs = 0
    // Only this flavor shrinks the young generation.
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  }, intervalMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** @returns the processor time of the process, in milliseconds */
function processorTimeMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
