// TLS that ends in the tunnel's client: `svc expose`, and frp with its plugin https2http, in front of the same web server.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { requestsPerSecond } from '../../tools/load/requests-per-second.ts'
import { freePort } from '../../tools/network/free-port.ts'
import { download } from '../http/visitors.ts'
import { alternateAll } from '../lib/alternate.ts'
import { compared, type Entry } from '../lib/entry.ts'
import { createIdentity } from '../tls/identity.ts'
import { findProgram } from './peers.ts'
import { Programs, processorSeconds } from './processes.ts'
import { startOwn } from './tunnels.ts'
import type { Service } from './work.ts'

const TRANSFER_BYTES = 100_000_000
const SECONDS = 2
const PEER = 'frp, TLS ends in frpc'
const MICROSECONDS = 1e6
const START_DEADLINE_MS = 15_000
const START_POLL_MS = 100
/** The name in the certificate of `createIdentity`, and so of the peer's site. */
const PEER_HOST = 'localhost'

interface Ended {
  host: string
  port: number
  ca: string
  /** The processes of both ends. */
  pids: number[]
  stop(): Promise<void>
}

type Figures = 'rate' | 'cost'

/** Where frp is not installed it yields nothing: the entry of missing peers says so. */
export async function* endedTls({ http }: Service, runs: number): AsyncGenerator<Entry> {
  if (!findProgram('frps') || !findProgram('frpc')) return
  const { hostname, ...own } = await startOwn([`http://127.0.0.1:${http}`])
  const ours: Ended = { ...own, host: hostname }
  const theirs = await startFrp(http)
  for (const connections of [1, 64])
    yield* compareBoth(
      `ended tls: requests, connections: ${connections}`,
      'request',
      { ours, theirs },
      runs,
      (at) =>
        measured(at, async () => {
          const url = `https://${at.host}:${at.port}/`
          const perSecond = await requestsPerSecond({ url, ca: at.ca, connections, seconds: SECONDS })
          return { rate: perSecond, count: perSecond * SECONDS }
        }),
    )
  for (const visitors of [1, 32])
    yield* compareBoth(`ended tls: download, visitors: ${visitors}`, 'MB', { ours, theirs }, runs, (at) =>
      measured(at, async () => ({
        rate: await download(at, TRANSFER_BYTES, visitors),
        count: TRANSFER_BYTES / 1e6,
      })),
    )
  for (const { stop } of [ours, theirs]) await stop()
}

async function* compareBoth(
  name: string,
  unit: string,
  sides: Record<'ours' | 'theirs', Ended>,
  runs: number,
  measure: (at: Ended) => Promise<Record<Figures, number>>,
): AsyncGenerator<Entry> {
  const { ours, theirs } = await alternateAll(runs, {
    ours: () => measure(sides.ours),
    theirs: () => measure(sides.theirs),
  })
  const question = { name, peer: PEER, target: 1 }
  yield compared({ ...question, unit: `${unit}/s`, better: 'more' }, ours.rate, theirs.rate)
  yield compared({ ...question, unit: `CPU µs/${unit}`, better: 'less' }, ours.cost, theirs.cost)
}

async function measured(
  { pids }: Ended,
  work: () => Promise<{ rate: number; count: number }>,
): Promise<Record<Figures, number>> {
  const before = processorSeconds(pids)
  const { rate, count } = await work()
  return { rate, cost: ((processorSeconds(pids) - before) / count) * MICROSECONDS }
}

async function startFrp(target: number): Promise<Ended> {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-bench-frp-'))
  const file = (name: string): string => path.join(directory, name)
  const [port, entrance] = [await freePort(), await freePort()]
  const { certificate, key } = createIdentity()
  const plugin = `[proxies.plugin]\ntype = "https2http"\nlocalAddr = "127.0.0.1:${target}"\ncrtPath = "${file('crt')}"\nkeyPath = "${file('key')}"\n`
  const proxy = `[[proxies]]\nname = "bench"\ntype = "https"\ncustomDomains = ["${PEER_HOST}"]\n${plugin}`
  const files = {
    crt: certificate,
    key,
    'frps.toml': `bindAddr = "127.0.0.1"\nbindPort = ${port}\nvhostHTTPSPort = ${entrance}\n`,
    'frpc.toml': `serverAddr = "127.0.0.1"\nserverPort = ${port}\n${proxy}`,
  }
  for (const [name, text] of Object.entries(files)) await writeFile(file(name), text)
  const programs = new Programs()
  programs.start(findProgram('frps')!, ['-c', file('frps.toml')])
  await programs.listening(port)
  programs.start(findProgram('frpc')!, ['-c', file('frpc.toml')])
  const ended: Ended = {
    host: PEER_HOST,
    port: entrance,
    ca: certificate,
    pids: programs.pids,
    stop: async () => {
      await programs.stop()
      await rm(directory, { recursive: true })
    },
  }
  await answering(ended)
  return ended
}

/** Waits until frps knows the site of frpc. */
async function answering(at: Ended): Promise<void> {
  const until = performance.now() + START_DEADLINE_MS
  for (;;)
    try {
      await download(at, 1, 1)
      return
    } catch (error) {
      if (performance.now() > until) throw error
      await pause(START_POLL_MS)
    }
}
