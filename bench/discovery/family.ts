// The family `discovery`: 1,000 relays that know each other, in simulated time: how soon, with how many messages, and at what cost.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { LOOK_RATE } from '../../relay/src/features/discovery/limits.ts'
import { compared, type Entry, limited } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import type { Memory } from './memory-process.ts'
import type { Convergence } from './network-process.ts'
import type { Cost, Figures } from './relay-process.ts'
import { bytesBesideBodies } from './wire.ts'

/** Each of them runs the whole code, and keeps what it knows. 1,000 take 10 minutes of a processor. */
const CONVERGING = [250, 500, 1000]
const KNOWN = 1000
/** Megabytes of the heap that 1,000 relays of 1,000 known ones each have room in. */
const HEAP_MB = 12_000
const MEMORY_MAX_MB = 2
const MEMORY_RUNS = 3
const MAIN_MAX_MS = 0.2
const POLLS_PER_HOUR = 30
const MB = 1e6
/** Of one descriptor in an answer, about. */
const DESCRIPTOR_BYTES = 490

export async function* discovery({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  const figures = await answerOf<Figures>('relay-process.ts', KNOWN, runs)
  yield* traffic(figures, await bytesBesideBodies())
  const { known, grown } = await answerOf<Memory>('memory-process.ts', KNOWN, MEMORY_RUNS)
  yield limited(
    { name: `memory of ${known} known relays`, unit: 'MB', better: 'less' },
    grown / MB,
    MEMORY_MAX_MB,
  )
  yield* cost('the first descriptor of a relay', figures.first)
  yield* cost('a later descriptor', figures.later)
  for (const count of CONVERGING) yield* converged(count, await answerOf('network-process.ts', count))
}

function* traffic({ requests, lists, bytes, listBytes }: Figures, besideBodies: number): Generator<Entry> {
  const question = { better: 'less', target: null } as const
  yield compared(
    {
      ...question,
      name: `questions of a relay that knows ${KNOWN}`,
      unit: '1/h',
      peer: 'each every 2 minutes',
    },
    requests,
    KNOWN * POLLS_PER_HOUR,
  )
  yield compared(
    { ...question, name: 'of them for whole lists', unit: '1/h', peer: 'all of them' },
    lists,
    requests,
  )
  yield compared(
    { ...question, name: 'bytes of their bodies', unit: 'MB/h', peer: 'whole lists alone, computed' },
    bytes / MB,
    (requests * listBytes) / MB,
  )
  yield compared(
    { ...question, name: 'bytes of TCP, with TLS and HTTP', unit: 'MB/h', peer: 'their bodies' },
    (bytes + requests * besideBodies) / MB,
    bytes / MB,
  )
}

function* cost(name: string, { mainMs, wholeMs }: Cost): Generator<Entry> {
  yield limited({ name: `${name}, main thread`, unit: 'CPU ms', better: 'less' }, mainMs, MAIN_MAX_MS)
  yield compared(
    { name: `${name}, all threads`, unit: 'CPU ms', better: 'less', peer: 'main thread', target: null },
    wholeMs,
    mainMs,
  )
}

/** Others are looked at one after another, at a rate that bounds how soon anybody can know all. */
function* converged(
  count: number,
  { minutes, known, requests, lists, bytes }: Convergence,
): Generator<Entry> {
  if (known < 1)
    throw new Error(`of ${count} relays, only ${known} of all pairs know each other after ${minutes} minutes`)
  const least = (count - 1 - LOOK_RATE.burst) / LOOK_RATE.perMinute
  const row = { better: 'less', target: null } as const
  yield compared(
    {
      ...row,
      name: `${count} relays start: all know all`,
      unit: 'minutes',
      peer: `${LOOK_RATE.perMinute} looks a minute`,
    },
    minutes,
    least,
  )
  yield compared(
    { ...row, name: `${count} relays: questions of each until then`, unit: '', peer: 'for whole lists' },
    requests,
    lists,
  )
  yield compared(
    {
      ...row,
      name: `${count} relays: bytes of their bodies`,
      unit: 'MB',
      peer: 'one list of all',
    },
    bytes / MB,
    (count * DESCRIPTOR_BYTES) / MB,
  )
}

async function answerOf<T>(file: string, ...args: number[]): Promise<T> {
  const child: ChildProcess = fork(path.join(import.meta.dirname, file), args.map(String), {
    execArgv: ['--expose-gc', `--max-old-space-size=${HEAP_MB}`],
  })
  const left = once(child, 'exit').then(([code]) => {
    throw new Error(`${file} ended with ${code} before it answered`)
  })
  const [answer] = await Promise.race([once(child, 'message'), left])
  return answer as T
}
