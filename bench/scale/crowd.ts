// Client processes that share a crowd of sites or visitors among them.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Done, Share } from './work.ts'

/** Connections of one process, and from one address: fewer than a relay takes from one network. */
const PER_PROCESS = 2_500

export interface Crowd {
  seconds: number
  /** Milliseconds that each took, sorted. */
  times: number[]
  leave(): Promise<void>
}

type Task = Omit<Share, 'localAddress' | 'first' | 'count'>

/**
 * Starts the processes, and resolves when all of the crowd is there.
 * @param program the file of the client's process
 * @param network the third number of the loopback addresses
 */
export async function gather(program: string, network: number, count: number, task: Task): Promise<Crowd> {
  const starts = Array.from({ length: Math.ceil(count / PER_PROCESS) }, (_, index) => index * PER_PROCESS)
  const processes = starts.map(() => fork(path.join(import.meta.dirname, program)))
  await Promise.all(processes.map((child) => once(child, 'spawn')))
  const start = performance.now()
  const answers = processes.map((child, index) => {
    const first = starts[index]!
    const localAddress = `127.0.${network}.${index + 1}`
    child.send({ ...task, localAddress, first, count: Math.min(PER_PROCESS, count - first) } satisfies Share)
    return answerOf(child)
  })
  const times = (await Promise.all(answers)).flatMap((done) => done.times)
  const seconds = (performance.now() - start) / 1000
  const leave = async (): Promise<void> => {
    const ended = processes.map((child) => once(child, 'exit'))
    for (const child of processes) child.disconnect()
    await Promise.all(ended)
  }
  return { seconds, times: times.sort((a, b) => a - b), leave }
}

/** @throws Error when the process ends instead */
async function answerOf(child: ChildProcess): Promise<Done> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`a process of the crowd ended with ${code}`)
  })
  const [done] = await Promise.race([once(child, 'message'), ended])
  return done
}
