// Measures what the relay's processes use, by Linux's /proc: memory, descriptors, processor time.
import { readdir, readFile } from 'node:fs/promises'

const KB = 1024
/** `utime` and `stime` are in clock ticks, of which Linux shows programs a hundred a second. */
const TICKS_PER_SECOND = 100
/** Fields of /proc/PID/stat (proc(5)), counted from the one behind the name. */
const STAT = { utime: 11, stime: 12, startTime: 19 } as const
const SAMPLE_MS = 200

export interface ProcessUsage {
  memoryBytes: number
  descriptors: number
  processorSeconds: number
}

/** Adds up a process and those that it started. @throws Error when the process is not there */
export async function usageOf(pid: number): Promise<ProcessUsage> {
  const sum: ProcessUsage = { memoryBytes: 0, descriptors: 0, processorSeconds: 0 }
  for (const one of await familyOf(pid)) {
    try {
      const [status, stat, open] = await Promise.all([
        readFile(`/proc/${one}/status`, 'utf8'),
        statOf(one),
        readdir(`/proc/${one}/fd`),
      ])
      sum.memoryBytes += Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * KB
      sum.descriptors += open.length
      sum.processorSeconds += (Number(stat[STAT.utime]) + Number(stat[STAT.stime])) / TICKS_PER_SECOND
    } catch (error) {
      // one that the relay started may be gone meanwhile
      if (one === pid) throw error
    }
  }
  return sum
}

/** @returns the start of the process in clock ticks since the machine's own: another process with the same id has another */
export async function startTimeOf(pid: number): Promise<string | undefined> {
  return (await statOf(pid).catch(() => []))[STAT.startTime]
}

/** Keeps looking, and remembers the highest. */
export class UsageRecorder {
  readonly #pid: number
  readonly #timer: NodeJS.Timeout
  #highest: ProcessUsage = { memoryBytes: 0, descriptors: 0, processorSeconds: 0 }

  constructor(pid: number) {
    this.#pid = pid
    this.#timer = setInterval(() => void this.#look(), SAMPLE_MS)
  }

  get highest(): ProcessUsage {
    return this.#highest
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    const now = await usageOf(this.#pid).catch(() => undefined)
    if (now === undefined) return
    const { memoryBytes, descriptors, processorSeconds } = this.#highest
    this.#highest = {
      memoryBytes: Math.max(memoryBytes, now.memoryBytes),
      descriptors: Math.max(descriptors, now.descriptors),
      processorSeconds: Math.max(processorSeconds, now.processorSeconds),
    }
  }
}

async function familyOf(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  const own = children.split(' ').filter(Boolean).map(Number)
  return [pid, ...(await Promise.all(own.map(familyOf))).flat()]
}

async function statOf(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  // the name is in parentheses, and may have anything in it
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}
