// Loads a UDP echo at a given rate, by a process that sends by the clock whatever comes back.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'

/** A datagram that is back later than this was late, in milliseconds. */
export const IN_TIME_MS = 20
/** Milliseconds for which a rate is held: several times what all queues on the way could ever hold. */
const DURATION_MS = 4_000

/** A datagram's time counts from the moment at which the schedule had it, also when it was sent later. */
export type LoadReport = {
  /** Percent of the datagrams that came back, however late. */
  back: number
  /** Percent of the datagrams that came back within {@link IN_TIME_MS}. */
  inTime: number
  /** Milliseconds of those that came back. */
  p50Ms: number
  p99Ms: number
  /** Milliseconds by which the generator itself was late: with much of it, the figures say little. */
  lateSendP99Ms: number
}

export async function load(port: number, perSecond: number, bytes: number): Promise<LoadReport> {
  const file = path.join(import.meta.dirname, 'load-process.ts')
  const child = fork(file, [port, perSecond, bytes, DURATION_MS].map(String))
  const [report] = (await once(child, 'message')) as [LoadReport]
  return report
}
