// The family `http`: a page in Chromium behind a relay as visitors see it, beside node:https without a relay.
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { requestsPerSecond } from '../../tools/load/requests-per-second.ts'
import { BenchRelay } from '../carrier/relay.ts'
import { listen, receiveRaw, sendRaw } from '../carrier/websocket-end.ts'
import { alternate } from '../lib/alternate.ts'
import type { Chromium, Tab } from '../lib/chromium.ts'
import { compared, type Entry, limited, missing } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import { INSTALL_CHROMIUM, openTab } from '../lib/page.ts'
import { galleryMs } from './gallery.ts'
import { idleConnections } from './idle.ts'
import { type Peer, startPeer, type Target, targetOf, urlOf } from './target.ts'
import { download, firstByteKept, firstByteNew, upload } from './visitors.ts'
import { PATH } from './work.ts'

const VISITORS = [1, 8, 50]
const TRANSFER_BYTES = 100_000_000
const SMALL_SECONDS = 2
const FIRST_BYTES = 200
/** Small responses a second that the page must give. */
const SMALL_MIN_PER_S = 1_500
/** Milliseconds in which a small response must come on a kept connection, at the median. */
const KEPT_MAX_MS = 3
/** The share of a raw WebSocket into the same page that a download, and an upload, must reach. */
const RAW_SHARE = 0.8
/** The factor by which HTTP/2 must show a page of images sooner. */
const GALLERY_GAIN = 2
/** Milliseconds of rest, so that each side of a pair begins with the machine at rest. */
const REST_MS = 200

/** The parts that are measured: the site with HTTP/1.1, the same with HTTP/2, and the peers. */
interface Bench {
  runs: number
  tab: Tab
  browser: Chromium
  site: Target
  site2: Target
  peer: Peer
}

export async function* http({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  const relay = await BenchRelay.start()
  const opened = await openTab(path.join(import.meta.dirname, 'page.ts'), relay.caFile)
  if (opened === undefined) {
    yield missing({ name: 'a page behind the relay', ...SMALL }, null, INSTALL_CHROMIUM)
    await relay.stop()
    return
  }
  const { tab, browser } = opened
  const ca = await relay.ca()
  const publish = async (name: string, http2: boolean): Promise<Target> => {
    const url = await tab.evaluate(
      ([relay, name, http2]) => globalThis.httpBench.publish(relay, name, http2),
      [relay.url, name, http2] as const,
    )
    return targetOf(url, ca)
  }
  const peer = await startPeer()
  const bench = {
    runs,
    tab,
    browser,
    site: await publish('one', false),
    site2: await publish('two', true),
    peer,
  }
  yield* smallRequests(bench)
  yield* firstBytes(bench)
  yield* transfers(bench)
  yield* gallery(bench)
  yield* idleConnections({ relay, ...bench })
  peer.stop()
  await opened.close()
  await relay.stop()
}

const SMALL = { unit: 'requests/s', better: 'more', peer: 'node:https' } as const

async function* smallRequests({ runs, site, peer }: Bench): AsyncGenerator<Entry> {
  for (const connections of VISITORS) {
    const name = `small answers, ${people(connections)}`
    const load = (target: Target) => async (): Promise<number> => {
      await pause(REST_MS)
      const url = urlOf(target, PATH.small)
      return requestsPerSecond({ url, ca: target.ca, connections, seconds: SMALL_SECONDS })
    }
    const { ours, theirs } = await alternate(runs, { ours: load(site), theirs: load(peer) })
    yield compared({ ...SMALL, name, target: null }, ours, theirs)
    if (connections > 1) yield limited({ ...SMALL, name }, ours, SMALL_MIN_PER_S)
  }
}

async function* firstBytes({ runs, site, peer }: Bench): AsyncGenerator<Entry> {
  const question = { unit: 'ms, p50', better: 'less', peer: 'node:https' } as const
  const measures = [
    { name: 'first byte, kept connection', of: firstByteKept, limit: KEPT_MAX_MS },
    { name: 'first byte, new connection', of: firstByteNew, limit: undefined },
  ]
  for (const { name, of, limit } of measures) {
    const { ours, theirs } = await alternate(runs, {
      ours: () => of(site, FIRST_BYTES),
      theirs: () => of(peer, FIRST_BYTES),
    })
    yield compared({ ...question, name, target: null }, ours, theirs)
    if (limit !== undefined) yield limited({ ...question, name }, ours, limit)
  }
}

async function* transfers({ runs, tab, site, peer }: Bench): AsyncGenerator<Entry> {
  const raw = await startRaw(tab)
  const directions = [
    { name: 'download', move: download, raw: () => raw.speed('sendRaw') },
    { name: 'upload', move: upload, raw: () => raw.speed('receiveRaw') },
  ]
  for (const direction of directions) {
    for (const visitors of VISITORS) {
      const name = `${direction.name} of ${TRANSFER_BYTES / 1e6} MB, ${people(visitors)}`
      const move = (target: Target) => () => direction.move(target, TRANSFER_BYTES, visitors)
      const { ours, theirs, limit } = await alternate(runs, {
        ours: move(site),
        theirs: move(peer),
        limit: direction.raw,
      })
      const question = { name, unit: 'MB/s', better: 'more' } as const
      yield compared({ ...question, peer: 'raw WebSocket', target: RAW_SHARE }, ours, limit)
      yield compared({ ...question, peer: 'node:https', target: null }, ours, theirs)
    }
  }
  raw.close()
}

async function* gallery({ runs, browser, site, site2 }: Bench): AsyncGenerator<Entry> {
  const { ours, theirs } = await alternate(runs, {
    ours: () => galleryMs(browser, urlOf(site2)),
    theirs: () => galleryMs(browser, urlOf(site)),
  })
  const question = { name: 'a page with 100 images over HTTP/2', unit: 'ms', better: 'less' } as const
  yield compared({ ...question, peer: 'the same over HTTP/1.1', target: GALLERY_GAIN }, ours, theirs)
}

/** A plain WebSocket between the page and this process: no TLS, no relay, nothing above it. */
async function startRaw(
  tab: Tab,
): Promise<{ speed(method: 'sendRaw' | 'receiveRaw'): Promise<number>; close(): void }> {
  const listener = await listen()
  listener.on('connection', async (socket, request) => {
    const { searchParams } = new URL(request.url!, 'ws://localhost')
    const receive = Number(searchParams.get('receive'))
    if (receive === 0) {
      socket.once('message', () => void sendRaw(socket, Number(searchParams.get('send'))))
      return
    }
    await receiveRaw(socket, receive)
    socket.send('done')
  })
  const { port } = listener.address() as { port: number }
  const speed = async (method: 'sendRaw' | 'receiveRaw'): Promise<number> => {
    const seconds = await tab.evaluate(([method, url, bytes]) => globalThis.httpBench[method](url, bytes), [
      method,
      `ws://localhost:${port}/`,
      TRANSFER_BYTES,
    ] as const)
    return TRANSFER_BYTES / 1e6 / seconds
  }
  return { speed, close: () => listener.close() }
}

function people(count: number): string {
  return count === 1 ? '1 visitor' : `${count} visitors`
}
