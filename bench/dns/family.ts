// The family `dns`: the DNS server beside Debian's nsd and knot, beside bridged bytes, under a flood, and its memory.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { DebianPrograms } from '../../tools/programs/debian-packages.ts'
import { alternate, alternateAll } from '../lib/alternate.ts'
import { compared, type Entry, limited, missing, type Question } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import { processorSeconds } from '../node/processes.ts'
import { leaveTestedCore, takeAllCores } from '../relay/cores.ts'
import { cookieFrom } from './cookie.ts'
import { type LoadReport, load } from './dnsperf.ts'
import { findNameServers, INSTALL } from './programs.ts'
import { APEX, type NameServer, type Ours, startKnot, startNsd, startOurs } from './servers.ts'

const QUESTIONS = [`${APEX} A`, `www.${APEX} A`, `x.${APEX} A`, `y.${APEX} A`]
const SECONDS = 2
const STEADY_SECONDS = 5
const STEADY_PER_SECOND = 1000
const P99_MAX_MS = 5
const LEASES = 100_000
const LEASES_MAX_MB = 60
const FLOOD_PER_SECOND = 50_000
const FLOOD_NAMES = 200_000
const MB = 1e6
const GB = 1e9
/** The DNS server gives at least this share of nsd's answers. */
const SHARE_OF_NSD = 0.25
const SPEEDS: [keyof Speed, string][] = [
  ['perSecond', '1/s'],
  ['perCpuSecond', 'per CPU s'],
]

interface Speed {
  perSecond: number
  perCpuSecond: number
}

export async function* dns({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  const debian = findNameServers()
  if (debian === undefined) {
    yield missing({ name: 'answers', unit: '1/s', better: 'more', peer: 'nsd' }, null, INSTALL)
    return
  }
  yield* answers(debian, runs)
  yield await memory()
  yield* besideVisitors(debian, runs)
}

/** Answers a second on one core; dnsperf is on the others. */
async function* answers(debian: DebianPrograms, runs: number): AsyncGenerator<Entry> {
  leaveTestedCore()
  const servers = { ours: await startOurs(), nsd: await startNsd(debian), knot: await startKnot(debian) }
  try {
    for (const signed of [true, false]) {
      const measure = (server: NameServer) => (): Promise<Speed> => speed(debian, server, signed)
      const { ours, nsd, knot } = await alternateAll<string, keyof Speed>(runs, {
        ours: measure(servers.ours),
        nsd: measure(servers.nsd),
        knot: measure(servers.knot),
      })
      for (const [figure, unit] of SPEEDS) {
        const question: Omit<Question, 'peer'> = {
          name: signed ? 'signed answers from the cache, one core' : 'unsigned answers, one core',
          unit,
          better: 'more',
        }
        yield compared({ ...question, peer: 'nsd', target: SHARE_OF_NSD }, ours![figure], nsd![figure])
        yield compared({ ...question, peer: 'knot', target: null }, ours![figure], knot![figure])
      }
    }
  } finally {
    for (const server of Object.values(servers)) await server.stop()
    takeAllCores()
  }
}

/** The second figure is of the server alone: dnsperf on a core that has other work may ask for less than a server can answer. */
async function speed(debian: DebianPrograms, { port, pid }: NameServer, signed: boolean): Promise<Speed> {
  const before = processorSeconds([pid])
  const { answers, perSecond } = await load(debian, { port, questions: QUESTIONS, seconds: SECONDS, signed })
  return { perSecond, perCpuSecond: answers / (processorSeconds([pid]) - before) }
}

async function memory(): Promise<Entry> {
  const ours = await startOurs({ bridgeTo: 1 })
  try {
    const grown = await ours.grow(LEASES)
    return limited(
      { name: `${LEASES} lease names, each with a TXT record`, unit: 'MB', better: 'less' },
      grown / MB,
      LEASES_MAX_MB,
    )
  } finally {
    await ours.stop()
  }
}

/** Bytes are bridged by the main thread of the same process; nothing is kept to a core. */
async function* besideVisitors(debian: DebianPrograms, runs: number): AsyncGenerator<Entry> {
  const traffic = fork(path.join(import.meta.dirname, 'traffic-process.ts'))
  const [{ port }] = await once(traffic, 'message')
  const ours = await startOurs({ bridgeTo: port })
  const nsd = await startNsd(debian)
  try {
    yield* latency(debian, runs, { ours, nsd, traffic })
    const cookies = { ours: await cookieFrom(ours.port), nsd: await cookieFrom(nsd.port) }
    if (cookies.ours === undefined) throw new Error('our server sent no cookie')
    const busy = { ours, nsd, traffic }
    yield* flood(debian, runs, busy, { words: 'are asked' })
    yield* flood(debian, runs, busy, { words: 'are asked with DNS cookies', cookies })
    yield* flood(debian, runs, busy, { words: 'are asked over TCP', transport: 'tcp' })
  } finally {
    traffic.kill('SIGKILL')
    await ours.stop()
    await nsd.stop()
  }
}

interface Busy {
  ours: Ours
  nsd: NameServer
  traffic: ChildProcess
}

async function* latency(
  debian: DebianPrograms,
  runs: number,
  { ours, nsd, traffic }: Busy,
): AsyncGenerator<Entry> {
  const steady = (server: NameServer) => (): Promise<LoadReport> =>
    load(debian, {
      port: server.port,
      questions: QUESTIONS,
      seconds: STEADY_SECONDS,
      signed: true,
      perSecond: STEADY_PER_SECOND,
    })
  const question = (name: string): Omit<Question, 'peer'> => ({ name, unit: 'ms', better: 'less' })
  const quiet = await alternateAll<string, keyof LoadReport>(1, { ours: steady(ours), nsd: steady(nsd) })
  yield compared(
    { ...question(`p99 of ${STEADY_PER_SECOND} a second, nothing bridged`), peer: 'nsd', target: null },
    quiet.ours!.p99Ms,
    quiet.nsd!.p99Ms,
  )
  traffic.send({ bridge: ours.bridge })
  const seen: number[] = []
  const measured = async (server: NameServer): Promise<LoadReport> => {
    const [report, bytes] = await Promise.all([
      steady(server)(),
      bridged(traffic, (STEADY_SECONDS - 1) * 1000),
    ])
    seen.push(bytes)
    return report
  }
  const busy = await alternateAll<string, keyof LoadReport>(runs, {
    ours: () => measured(ours),
    nsd: () => measured(nsd),
  })
  const name = `p99 of ${STEADY_PER_SECOND} a second beside bridged bytes`
  yield limited(question(name), busy.ours!.p99Ms, P99_MAX_MS)
  yield compared({ ...question(name), peer: 'nsd', target: null }, busy.ours!.p99Ms, busy.nsd!.p99Ms)
  const mean = seen.reduce((sum, bytes) => sum + bytes, 0) / seen.length
  yield limited({ name: 'bytes bridged meanwhile', unit: 'GB/s', better: 'more' }, mean / GB, 1)
}

/** The way in which a flooder asks. */
interface Flooder {
  words: string
  transport?: 'udp' | 'tcp'
  /** With cookies a flooder has proven its address, so that no answer is cut short or dropped for that. */
  cookies?: Partial<Record<'ours' | 'nsd', string | undefined>>
}

/** The same flood to another process tells what its sender costs on this machine. */
async function* flood(
  debian: DebianPrograms,
  runs: number,
  { ours, nsd, traffic }: Busy,
  { words, transport = 'udp', cookies = {} }: Flooder,
): AsyncGenerator<Entry> {
  const questions = Array.from(
    { length: FLOOD_NAMES },
    () => `${Math.random().toString(36).slice(2)}.${APEX} A`,
  )
  const flooded = (server: NameServer, cookie: string | undefined) => async (): Promise<number> => {
    const flooding = load(debian, {
      port: server.port,
      questions,
      seconds: SECONDS + 1,
      signed: true,
      perSecond: FLOOD_PER_SECOND,
      transport,
      ...(cookie !== undefined && { cookie }),
    })
    const bytes = await bridged(traffic, SECONDS * 1000)
    await flooding
    return bytes / GB
  }
  const found = await alternate(runs, {
    none: async () => (await bridged(traffic, SECONDS * 1000)) / GB,
    ours: flooded(ours, cookies.ours),
    nsd: flooded(nsd, cookies.nsd),
  })
  const name = `bytes bridged while ${FLOOD_PER_SECOND} random names a second ${words}`
  yield compared(
    { name, unit: 'GB/s', better: 'more', peer: 'no flood', target: null },
    found.ours,
    found.none,
  )
  yield compared(
    { name, unit: 'GB/s', better: 'more', peer: 'the same flood to nsd', target: 0.9 },
    found.ours,
    found.nsd,
  )
}

async function bridged(traffic: ChildProcess, ms: number): Promise<number> {
  traffic.send({ ms })
  const [{ bytesPerSecond }] = await once(traffic, 'message')
  return bytesPerSecond
}
