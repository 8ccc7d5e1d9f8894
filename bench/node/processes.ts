// Programs of a tunnel: started, waited for, ended by their process ids, and weighed together.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** A program that does not listen by then has failed, in milliseconds. */
const START_TIMEOUT_MS = 15_000
const LOOK_MS = 50

export class Programs {
  readonly #children: ChildProcess[] = []
  /** What they said on standard error. */
  complaints = ''

  start(command: string, args: readonly string[]): ChildProcess {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#children.push(child)
    process.once('exit', () => child.kill('SIGKILL'))
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

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** Linux only. @returns MB of memory of these processes and their descendants; what they share counts once */
export function memoryMb(pids: readonly number[]): number {
  const children = Map.groupBy(
    readdirSync('/proc').filter((name) => /^\d+$/.test(name)),
    parentOf,
  )
  const weigh = (pid: number): number =>
    shareKb(pid) + (children.get(pid) ?? []).reduce((sum, child) => sum + weigh(Number(child)), 0)
  return pids.reduce((sum, pid) => sum + weigh(pid), 0) / 1000
}

function parentOf(pid: string): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(readProc(`/proc/${pid}/status`))?.[1])
}

function shareKb(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB$/m.exec(readProc(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0)
}

/** Empty of a process that has just ended. */
function readProc(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
