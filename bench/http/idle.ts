// Measures what an idle connection of a visitor costs a site in a page and in a process of Node.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect as connect2 } from 'node:http2'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from 'node:tls'
import type { BenchRelay } from '../carrier/relay.ts'
import { COLLECT_EVERY } from '../carrier/relay-memory.ts'
import type { Chromium, Tab } from '../lib/chromium.ts'
import { type Entry, limited } from '../lib/entry.ts'
import type { Memory, Started } from './idle-process.ts'
import { connectOptions, type Target, targetOf } from './target.ts'

/** The default bound of a site is 1,024. */
const CONNECTIONS = 960
const ARRIVING = 8
const SETTLE_MS = 500
const PAGE_MAX_KB = 30
const NODE_MAX_KB = 80

type Close = () => void

interface Sites {
  relay: BenchRelay
  browser: Chromium
  tab: Tab
  /** The sites that the page publishes: with HTTP/1.1, and with HTTP/2. */
  site: Target
  site2: Target
}

export async function* idleConnections({ relay, browser, tab, site, site2 }: Sites): AsyncGenerator<Entry> {
  const pageMemory = async (): Promise<Memory> => {
    await pause(SETTLE_MS)
    return { heap: await tab.heapBytes(), rss: await browser.rendererBytes() }
  }
  yield* grown('a page', PAGE_MAX_KB, site, site2, pageMemory)
  const file = path.join(import.meta.dirname, 'idle-process.ts')
  const child = fork(file, [relay.url, relay.caFile], { execArgv: ['--expose-gc'] })
  const [{ urls }] = (await once(child, 'message')) as [Started]
  const ca = await relay.ca()
  const nodeMemory = async (): Promise<Memory> => {
    await pause(SETTLE_MS)
    child.send('memory')
    const [memory] = (await once(child, 'message')) as [Memory]
    return memory
  }
  yield* grown('Node', NODE_MAX_KB, targetOf(urls[0], ca), targetOf(urls[1], ca), nodeMemory)
  child.disconnect()
}

async function* grown(
  where: string,
  maxKb: number,
  site: Target,
  site2: Target,
  memory: () => Promise<Memory>,
): AsyncGenerator<Entry> {
  const kinds = [
    { version: 'HTTP/1.1', visit: () => visit(site) },
    { version: 'HTTP/2', visit: () => visit2(site2) },
  ]
  for (const { version, visit } of kinds) {
    // code is compiled, and pools have grown
    const warm = await come(COLLECT_EVERY, visit, memory)
    const before = await memory()
    const crowd = await come(CONNECTIONS - COLLECT_EVERY, visit, memory)
    const after = await memory()
    for (const close of [...warm, ...crowd]) close()
    await pause(SETTLE_MS)
    // A process may grow into what it had, and its heap knows nothing of keys and other native memory.
    const bytes = Math.max(after.heap - before.heap, after.rss - before.rss)
    const question = { name: `memory of an idle connection, ${where}, ${version}`, unit: 'KB' } as const
    yield limited({ ...question, better: 'less' }, bytes / crowd.length / 1024, maxKb)
  }
}

/** Garbage is collected now and then, as it is while a site runs: what a handshake leaves is not the memory of one who is idle. */
async function come(
  count: number,
  visit: () => Promise<Close>,
  collect: () => Promise<unknown>,
): Promise<Close[]> {
  const all: Close[] = []
  while (all.length < count) {
    const some = Math.min(COLLECT_EVERY, count - all.length)
    const numbers = Array(some).keys()
    const one = async (): Promise<void> => {
      for (const _ of numbers) all.push(await visit())
    }
    await Promise.all(Array.from({ length: ARRIVING }, one))
    await collect()
  }
  return all
}

/** One request and its answer; the connection stays. */
async function visit(target: Target): Promise<Close> {
  const { headers, ...options } = connectOptions(target)
  const socket = connect({ ...options, port: target.port, ALPNProtocols: ['http/1.1'] })
  socket.on('error', () => {})
  socket.write(`GET /small HTTP/1.1\r\nHost: ${headers.Host}\r\n\r\n`)
  await once(socket, 'data')
  socket.resume()
  return () => socket.destroy()
}

async function visit2(target: Target): Promise<Close> {
  const { headers, ...options } = connectOptions(target)
  const { port, ca } = target
  const session = connect2(`https://${headers.Host}`, {
    createConnection: () => connect({ ...options, port, ca, ALPNProtocols: ['h2'] }),
  })
  session.on('error', () => {})
  const stream = session.request({ ':path': '/small' })
  stream.resume()
  await once(stream, 'end')
  return () => session.destroy()
}
