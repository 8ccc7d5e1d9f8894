// Visitors who come in at another machine than that of the site's sessions, beside visitors who come in at that one.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Machine } from '../../tools/relay/machine.ts'
import type { Machines } from '../../tools/relay/machines.ts'
import { alternateAll, median } from '../lib/alternate.ts'
import { compared, type Entry, limited } from '../lib/entry.ts'
import { processorSeconds } from '../node/processes.ts'
import { watchRedis } from './redis-watch.ts'
import { type Hostnames, type Task, TRANSFER_BYTES } from './work.ts'

/** Visitors of one run, at each machine. */
const VISITORS = 200
const VISITORS_WATCHED = 1_000
const STREAMS = 4
const GB = 1e9
const ADDED_MAX_MS = 0.3
const SHARE_OF_ONE_MACHINE = 0.7
/** Before the first run: code is compiled, and windows have found their size. */
const WARM_UPS = 2

export async function* passing({ url, redis, machines }: Machines, runs: number): AsyncGenerator<Entry> {
  const [near, far] = machines as [Machine, Machine]
  const direct = new URL(url)
  direct.port = `${near.port}`
  const site = start('site-process.ts', direct.origin, near.caFile)
  const visitor = start('visitor-process.ts')
  try {
    const hostnames = await answerOf<Hostnames>(site)
    const tell = async <Answer>(task: Task): Promise<Answer> => {
      visitor.send(task)
      return await answerOf<Answer>(visitor)
    }
    yield* latency(runs, (visitors) =>
      tell({ kind: 'ask', ports: [near.port, far.port], hostname: hostnames.ask, visitors }),
    )
    const pids = [near, far].map(({ pid }) => pid!)
    for (const kind of ['download', 'upload'] as const)
      yield* throughput(kind, runs, pids, (isFar) => {
        const { port } = isFar ? far : near
        return tell({ kind, port, hostname: hostnames[kind], streams: STREAMS })
      })
    const operations = await watchRedis(redis, () =>
      tell({ kind: 'ask', ports: [far.port], hostname: hostnames.ask, visitors: VISITORS_WATCHED }),
    )
    const question = { name: `redis operations for ${VISITORS_WATCHED} visitors`, unit: 'commands' }
    yield limited({ ...question, better: 'less' }, operations.sent, 0)
  } finally {
    for (const child of [site, visitor]) child.disconnect()
  }
}

async function* latency(
  runs: number,
  ask: (visitors: number) => Promise<[number, number]>,
): AsyncGenerator<Entry> {
  const found: [number, number][] = []
  for (let run = -WARM_UPS; run < runs; run++) {
    const waits = await ask(VISITORS)
    if (run >= 0) found.push(waits)
  }
  const near = median(found.map(([near]) => near))
  const far = median(found.map(([, far]) => far))
  const added = median(found.map(([near, far]) => far - near))
  const question = { unit: 'ms, p50', better: 'less' } as const
  const name = 'first byte of a new visitor across machines'
  yield compared({ ...question, name, peer: 'on one machine', target: null }, far, near)
  yield limited({ ...question, name: `${name}, more than on one machine` }, added, ADDED_MAX_MS)
}

async function* throughput(
  kind: 'download' | 'upload',
  runs: number,
  pids: readonly number[],
  move: (isFar: boolean) => Promise<number>,
): AsyncGenerator<Entry> {
  const measure = (isFar: boolean) => async () => {
    const spent = (): number[] => pids.map((pid) => processorSeconds([pid]))
    const before = spent()
    const gigabytes = (STREAMS * TRANSFER_BYTES) / GB
    const seconds = await move(isFar)
    const [near = 0, far = 0] = spent().map((after, index) => (after - before[index]!) / gigabytes)
    return { speed: gigabytes / seconds, near, far }
  }
  const found = await alternateAll<'one' | 'two', 'speed' | 'near' | 'far'>(runs, {
    one: measure(false),
    two: measure(true),
  })
  const name = `${kind} across machines, ${STREAMS} visitors`
  const peer = 'on one machine'
  const cost = { unit: 'CPU s per GB', better: 'less', peer, target: null } as const
  yield compared(
    { name, unit: 'GB/s', better: 'more', peer, target: SHARE_OF_ONE_MACHINE },
    found.two.speed,
    found.one.speed,
  )
  // Where each machine has cores of its own, the one that computes most bounds the speed.
  const bound = { ...cost, target: SHARE_OF_ONE_MACHINE }
  yield compared({ ...bound, name: `${name}: the machine of the site` }, found.two.near, found.one.near)
  yield compared({ ...cost, name: `${name}: the visitors' machine` }, found.two.far, found.one.near)
}

function start(program: string, ...args: string[]): ChildProcess {
  return fork(path.join(import.meta.dirname, program), args)
}

/** @throws Error when the process ends instead */
async function answerOf<Answer>(child: ChildProcess): Promise<Answer> {
  const over = new AbortController()
  const ended = once(child, 'exit', { signal: over.signal }).then(([code]) => {
    throw new Error(`a process of the benchmark ended with ${code}`)
  })
  ended.catch(() => {})
  try {
    const [answer] = await Promise.race([once(child, 'message'), ended])
    return answer
  } finally {
    over.abort()
  }
}
