// Measures the memory of a relay's process when its new connections have come to rest and garbage is collected.
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { BenchRelay } from './relay.ts'

/** Arguments of Node with which a relay's memory can be asked for. */
export const PROBED: string[] = ['--expose-gc', '--import', path.join(import.meta.dirname, 'memory-probe.ts')]

/** Connections after which garbage is collected, as it is now and then while a relay runs. */
export const COLLECT_EVERY = 80
/** Milliseconds in which new connections come to rest. */
const SETTLE_MS = 500

/** Figures of memory in bytes. */
interface Memory {
  rss: number
  heap: number
}

export async function memoryOf(relay: BenchRelay): Promise<Memory> {
  await pause(SETTLE_MS)
  const memory = relay.line<Memory>('memory')
  process.kill(relay.pid, 'SIGUSR2')
  return memory
}

/** The process may grow into what it had, and its heap knows nothing of OpenSSL's: whichever grew more. */
export function grownKb(before: Memory, after: Memory): number {
  return Math.max(after.rss - before.rss, after.heap - before.heap) / 1024
}
