// Programs of a tunnel: started, waited for, ended by their process ids, and weighed together.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { isListening } from '../../tools/network/is-listening.ts'

/** A program that does not listen by then has failed, in milliseconds. */
const START_TIMEOUT_MS = 15_000
const LOOK_MS = 50
/** Ticks a second of the counters in /proc: USER_HZ, which is 100 wherever Node runs. */
const TICKS_PER_SECOND = 100

export class Programs {
  readonly #children: ChildProcess[] = []
  /** The text that they wrote to standard error. */
  complaints = ''

  start(command: string, args: readonly string[]): ChildProcess {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#children.push(child)
    const kill = (): void => void child.kill('SIGKILL')
    process.once('exit', kill)
    child.once('exit', () => process.off('exit', kill))
    child.stdout.resume()
    child.stderr.on('data', (chunk) => {
      this.complaints += chunk
    })
    return child
  }

  /** @throws Error with what the programs said when nothing listens there in time */
  async listening(port: number): Promise<void> {
    const until = performance.now() + START_TIMEOUT_MS
    while (!(await isListening(port))) {
      if (performance.now() > until) throw new Error(`nothing listens: ${this.complaints}`)
      await pause(LOOK_MS)
    }
  }

  get pids(): number[] {
    return this.#children.map(({ pid }) => pid!)
  }

  async stop(): Promise<void> {
    const running = this.#children.filter(
      ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
    )
    const ended = running.map((child) => once(child, 'exit'))
    for (const child of running) child.kill('SIGTERM')
    await Promise.all(ended)
  }
}

/** Linux only. @returns MB of memory of these processes and their descendants; what they share counts once */
export function memoryMb(pids: readonly number[]): number {
  return sumOfTrees(pids, shareKb) / 1000
}

/** Linux only. @returns seconds of processor time that these processes and their descendants have had, in steps of a tick */
export function processorSeconds(pids: readonly number[]): number {
  return sumOfTrees(pids, ticks) / TICKS_PER_SECOND
}

function sumOfTrees(pids: readonly number[], of: (pid: number) => number): number {
  const children = Map.groupBy(
    readdirSync('/proc').filter((name) => /^\d+$/.test(name)),
    parentOf,
  )
  const sum = (pid: number): number =>
    of(pid) + (children.get(pid) ?? []).reduce((total, child) => total + sum(Number(child)), 0)
  return pids.reduce((total, pid) => total + sum(pid), 0)
}

function parentOf(pid: string): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(readProc(`/proc/${pid}/status`))?.[1])
}

function shareKb(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB$/m.exec(readProc(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0)
}

/** @returns the ticks of user and system: the 14th and 15th field, counted behind the name, which may hold anything. */
function ticks(pid: number): number {
  const stat = readProc(`/proc/${pid}/stat`)
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return stat === '' ? 0 : Number(fields[11]) + Number(fields[12])
}

/** @returns an empty text for a process that has just ended */
function readProc(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
