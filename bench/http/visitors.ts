// Visitors with node:https: downloads, uploads, and the time to a first byte.
import { Agent, request } from 'node:https'
import { median } from '../lib/alternate.ts'
import { wallSeconds } from '../lib/clock.ts'
import { connectOptions, type Target } from './target.ts'
import { CHUNK_BYTES, downloadPath, PATH } from './work.ts'

const CHUNK = Buffer.alloc(CHUNK_BYTES, 7)

/** @returns MB/s of all together, each visitor with its part of `bytes` and a connection of its own */
export async function download(target: Target, bytes: number, visitors: number): Promise<number> {
  const part = Math.floor(bytes / visitors)
  const one = async (): Promise<void> => {
    const got = await ask(target, downloadPath(part))
    if (got.bytes !== part) throw new Error(`${got.bytes} bytes came of ${part}`)
  }
  return perSecond(bytes, () => together(visitors, one))
}

export async function upload(target: Target, bytes: number, visitors: number): Promise<number> {
  const part = Math.floor(bytes / visitors)
  const one = async (): Promise<void> => {
    const { text } = await ask(target, PATH.upload, { send: part })
    if (text !== String(part)) throw new Error(`${text} bytes went of ${part}`)
  }
  return perSecond(bytes, () => together(visitors, one))
}

/** @returns milliseconds to the first byte of an answer, the median of `times` requests on one kept connection */
export async function firstByteKept(target: Target, times: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  await ask(target, PATH.small, { agent })
  const waits: number[] = []
  for (let asked = 0; asked < times; asked++)
    waits.push((await ask(target, PATH.small, { agent })).firstByteMs)
  agent.destroy()
  return median(waits)
}

/** The same with a connection, and a full TLS handshake, for each. */
export async function firstByteNew(target: Target, times: number): Promise<number> {
  const waits: number[] = []
  for (let asked = 0; asked < times; asked++) waits.push((await ask(target, PATH.small)).firstByteMs)
  return median(waits)
}

interface Answer {
  bytes: number
  text: string
  firstByteMs: number
}

interface Asked {
  /** Default: a connection of its own. */
  agent?: Agent
  /** Bytes of a body to send. */
  send?: number
}

function ask(target: Target, path: string, { agent, send }: Asked = {}): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const start = performance.now()
  const own = agent ?? new Agent({ maxCachedSessions: 0 })
  const asked = request({
    ...connectOptions(target),
    agent: own,
    path,
    method: send === undefined ? 'GET' : 'POST',
  })
  asked.on('error', reject)
  asked.on('response', async (response) => {
    const firstByteMs = performance.now() - start
    let bytes = 0
    let text = ''
    response.on('error', reject)
    for await (const chunk of response) {
      bytes += chunk.length
      if (send !== undefined) text += chunk
    }
    if (response.statusCode !== 200) reject(new Error(`${path} was answered with ${response.statusCode}`))
    resolve({ bytes, text, firstByteMs })
  })
  if (send === undefined) asked.end()
  else void write(asked, send)
  return promise
}

async function write(asked: ReturnType<typeof request>, bytes: number): Promise<void> {
  for (let left = bytes; left > 0; left -= CHUNK.length) {
    const isRoom = asked.write(CHUNK.subarray(0, left))
    if (!isRoom) await new Promise((resolve) => asked.once('drain', resolve))
  }
  asked.end()
}

async function perSecond(bytes: number, work: () => Promise<unknown>): Promise<number> {
  return bytes / 1e6 / (await wallSeconds(work))
}

function together(count: number, one: () => Promise<void>): Promise<unknown> {
  return Promise.all(Array.from({ length: count }, one))
}
