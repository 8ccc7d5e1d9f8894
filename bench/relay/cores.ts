// A core for the programs under test, and the others for those that load them, where `taskset` and two cores are there.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { findProgram } from '../node/peers.ts'

interface Cores {
  tested: number
  /** The cores, as `taskset` takes them. */
  loading: string
}

const cores: Cores | undefined = findCores()

/** The same command, kept on the core of the programs under test. */
export function onTestedCore(command: string, args: readonly string[]): [string, string[]] {
  if (cores === undefined) return [command, [...args]]
  return ['taskset', ['-c', `${cores.tested}`, command, ...args]]
}

/** Moves a process that was started otherwise. */
export function moveToTestedCore(pid: number): void {
  if (cores) move(pid, `${cores.tested}`)
}

/** Moves this process and what it starts from now on to the other cores. */
export function leaveTestedCore(): void {
  if (cores) move(process.pid, cores.loading)
}

/** Undoes {@link leaveTestedCore}. */
export function takeAllCores(): void {
  if (cores) move(process.pid, `${cores.tested},${cores.loading}`)
}

/** Moves all threads of the process. */
function move(pid: number, list: string): void {
  spawnSync('taskset', ['-a', '-p', '-c', list, `${pid}`])
}

function findCores(): Cores | undefined {
  if (process.platform !== 'linux' || findProgram('taskset') === undefined) return undefined
  const [, list = ''] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  const [tested, ...rest] = parseCores(list)
  return tested === undefined || rest.length === 0 ? undefined : { tested, loading: rest.join(',') }
}

/** Parses a list such as `0-3,8`. */
function parseCores(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number) as [number, number?]
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}
