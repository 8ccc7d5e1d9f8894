// Preloaded into a relay that runs with --expose-gc: on SIGUSR2 it prints what it used since the last time, collects garbage,
// and prints what memory is left. The collection counts for nothing.

const SAMPLE_MS = 20

export interface Figures {
  /** Milliseconds of processor time of the longest turn of the event loop since the last figures. */
  turnMs: number
  /** Milliseconds of processor time since the start of the process, all threads. */
  cpuMs: number
  /** Bytes, after a collection. */
  rss: number
  heap: number
}

let sampledAt = performance.now()
let worked = milliseconds(process.threadCpuUsage())
let turnMs = 0
let collectedMs = 0

/** A turn makes the timer late by what it computed; where other programs have the processor, it is later than that. */
function sample(): void {
  const late = performance.now() - sampledAt - SAMPLE_MS
  const computed = milliseconds(process.threadCpuUsage()) - worked
  turnMs = Math.max(turnMs, Math.min(late, computed))
  restart()
}

function restart(): void {
  sampledAt = performance.now()
  worked = milliseconds(process.threadCpuUsage())
}

setInterval(sample, SAMPLE_MS).unref()

process.on('SIGUSR2', () => {
  sample()
  const start = milliseconds(process.cpuUsage())
  globalThis.gc?.()
  globalThis.gc?.()
  const end = milliseconds(process.cpuUsage())
  const { rss, heapUsed, external } = process.memoryUsage()
  const figures: Figures = { turnMs, cpuMs: start - collectedMs, rss, heap: heapUsed + external }
  collectedMs += end - start
  process.stdout.write(`${JSON.stringify({ figures })}\n`)
  turnMs = 0
  restart()
})

function milliseconds({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000
}
