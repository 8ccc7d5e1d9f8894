// The family `cache`: files that the relay serves for sites that are away, beside nginx with the same files and TLS.
import type { DebianPrograms } from '../../tools/programs/debian-packages.ts'
import { BenchRelay } from '../carrier/relay.ts'
import { grownKb, memoryOf, PROBED } from '../carrier/relay-memory.ts'
import { alternateAll } from '../lib/alternate.ts'
import { compared, type Entry, limited, missing, type Question } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import { processorSeconds } from '../node/processes.ts'
import { leaveTestedCore, moveToTestedCore, takeAllCores } from '../relay/cores.ts'
import { LARGE, SMALL_BYTES, SMALL_FILES, servedFiles, smallFiles, smallPath } from './files.ts'
import { latencies, load } from './h2load.ts'
import { startNginx } from './nginx.ts'
import { findWebPrograms, INSTALL } from './programs.ts'
import { comeAndGo, leaveFiles, visitAll } from './site.ts'

const SMALL_CONNECTIONS = 32
const LARGE_CONNECTIONS = 8
const SECONDS = 2
/** The rate at which p99 is measured is below what each server can do, and is kept whatever the server does. */
const STEADY_CONNECTIONS = 100
const STEADY_PER_SECOND = 1000
const STEADY_SECONDS = 5
const SNAPSHOTS = 128
const FILES_OF_EACH = 64
const SNAPSHOTS_MAX_MB = 64
/** Sites that come before the measurement of memory. */
const FIRST_SITES = 64
const MB = 1e6
/** The relay gives at least these shares of nginx's requests, and of its bytes, for a second of processor time. */
const SHARE_OF_REQUESTS = 0.5
const SHARE_OF_BYTES = 0.7
const SETTINGS = { STATIC_CACHE_ENABLED: 'true' }
const SMALL_PATHS: string[] = Array.from({ length: SMALL_FILES }, (_, number) => smallPath(number))

interface Server {
  url: string
  pids: readonly number[]
}

interface Speed {
  perSecond: number
  perCpuSecond: number
  mbPerCpuSecond: number
}

export async function* cache({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  const debian = findWebPrograms()
  if (debian === undefined) {
    yield missing({ name: 'small files', unit: '1/s', better: 'more', peer: 'nginx' }, null, INSTALL)
    return
  }
  yield* besideNginx(debian, runs)
  yield await memory()
}

/** Each server is kept on one core; h2load is on the others. */
async function* besideNginx(debian: DebianPrograms, runs: number): AsyncGenerator<Entry> {
  const files = servedFiles()
  const relay = await BenchRelay.start({ env: SETTINGS })
  const url = await leaveFiles(relay, 'bench', files)
  leaveTestedCore()
  moveToTestedCore(relay.pid)
  const nginx = await startNginx(debian, files, false)
  const tuned = await startNginx(debian, files, true)
  const servers: Servers = { ours: { url, pids: [relay.pid] }, nginx, tuned }
  try {
    yield* smallFilesEach(debian, servers, runs)
    yield* largeFiles(debian, servers, runs)
    yield* steady(debian, servers, runs)
  } finally {
    await Promise.all([nginx.stop(), tuned.stop(), relay.stop()])
    takeAllCores()
  }
}

interface Servers {
  ours: Server
  nginx: Server
  tuned: Server
}

async function* smallFilesEach(
  debian: DebianPrograms,
  { ours, nginx, tuned }: Servers,
  runs: number,
): AsyncGenerator<Entry> {
  const measure = (server: Server) => (): Promise<Speed> =>
    speed(debian, server, SMALL_PATHS, SMALL_CONNECTIONS)
  const found = await alternateAll<string, keyof Speed>(runs, {
    ours: measure(ours),
    nginx: measure(nginx),
    tuned: measure(tuned),
  })
  const name = `files of ${SMALL_BYTES} bytes, ${SMALL_CONNECTIONS} visitors, one core`
  const question: Omit<Question, 'peer' | 'unit'> = { name, better: 'more' }
  const peers = [
    { peer: 'nginx', theirs: found.nginx!, target: SHARE_OF_REQUESTS },
    { peer: 'nginx, open_file_cache', theirs: found.tuned!, target: null },
  ]
  for (const { peer, theirs, target } of peers) {
    yield compared({ ...question, unit: '1/s', peer, target: null }, found.ours!.perSecond, theirs.perSecond)
    yield compared(
      { ...question, unit: 'per CPU s', peer, target },
      found.ours!.perCpuSecond,
      theirs.perCpuSecond,
    )
  }
}

async function* largeFiles(
  debian: DebianPrograms,
  { ours, nginx }: Servers,
  runs: number,
): AsyncGenerator<Entry> {
  for (const [size, path] of Object.entries(LARGE)) {
    const measure = (server: Server) => (): Promise<Speed> => speed(debian, server, [path], LARGE_CONNECTIONS)
    const found = await alternateAll<string, keyof Speed>(runs, {
      ours: measure(ours),
      nginx: measure(nginx),
    })
    const name = `files of ${size}, ${LARGE_CONNECTIONS} visitors, one core`
    yield compared(
      { name, unit: 'MB per CPU s', better: 'more', peer: 'nginx', target: SHARE_OF_BYTES },
      found.ours!.mbPerCpuSecond,
      found.nginx!.mbPerCpuSecond,
    )
  }
}

async function speed(
  debian: DebianPrograms,
  { url, pids }: Server,
  paths: readonly string[],
  connections: number,
): Promise<Speed> {
  const before = processorSeconds(pids)
  const { answers, bytes } = await load(debian, { url, paths, connections, seconds: SECONDS })
  const cpu = processorSeconds(pids) - before
  return { perSecond: answers / SECONDS, perCpuSecond: answers / cpu, mbPerCpuSecond: bytes / MB / cpu }
}

async function* steady(
  debian: DebianPrograms,
  { ours, nginx }: Servers,
  runs: number,
): AsyncGenerator<Entry> {
  const measure =
    ({ url }: Server) =>
    async (): Promise<{ p99: number }> => {
      const perSecond = STEADY_PER_SECOND / STEADY_CONNECTIONS
      const options = { url, paths: SMALL_PATHS, connections: STEADY_CONNECTIONS, seconds: STEADY_SECONDS }
      const times = await latencies(debian, { ...options, perSecond })
      return { p99: times[Math.floor(times.length * 0.99)] ?? Number.NaN }
    }
  const found = await alternateAll<string, 'p99'>(runs, { ours: measure(ours), nginx: measure(nginx) })
  const name = `p99 of ${STEADY_PER_SECOND} small files a second`
  yield compared(
    { name, unit: 'ms', better: 'less', peer: 'nginx', target: null },
    found.ours!.p99,
    found.nginx!.p99,
  )
}

/** The growth of the relay once somebody has asked for each file, and garbage is collected. */
async function memory(): Promise<Entry> {
  const relay = await BenchRelay.start({ env: SETTINGS, execArgv: PROBED })
  try {
    const files = smallFiles(FILES_OF_EACH)
    const leave = async (name: string): Promise<void> =>
      visitAll(await leaveFiles(relay, name, files), await relay.ca(), files)
    // Code is compiled and pools have grown, also those that only sites need which come and go.
    for (let number = 0; number < FIRST_SITES; number++) await comeAndGo(relay, `other-${number}`)
    await leave('first')
    const before = await memoryOf(relay)
    for (let number = 1; number < SNAPSHOTS; number++) await leave(`bench-${number}`)
    const name = `memory of ${SNAPSHOTS} snapshots of ${FILES_OF_EACH} files`
    const grown = (grownKb(before, await memoryOf(relay)) * 1024) / MB
    return limited({ name, unit: 'MB', better: 'less' }, grown, SNAPSHOTS_MAX_MB)
  } finally {
    await relay.stop()
  }
}
