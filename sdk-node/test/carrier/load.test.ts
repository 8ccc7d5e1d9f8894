// Many visitors at a native carrier, and a relay that is killed and started again beneath them.

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type Server, type Socket } from 'node:net'
import { afterEach, describe, it as every, expect } from 'vitest'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { useStarted } from '../../../tools/use-started.ts'
import type { Exposure } from '../../src/index.ts'
import { exposeAt, listening, TCP_PORTS, TCP_SETTINGS, tcpServer, text, visit } from '../support/exposed.ts'
import { freeRange, startTestRelay } from '../support/relay.ts'

const it = wholeOnly(every, 'faults')

const VISITORS: number = atDepth(500, 40)
/** Visitors in their handshakes at once: with all of them the first would wait longer than a relay allows. */
const ARRIVING = 20

let exposure: Exposure
let service: Server
const relay = useStarted(async () => startTestRelay(TCP_SETTINGS(await freeRange(TCP_PORTS))))
afterEach(async () => {
  await exposure.close()
  service.close()
})

describe(`${VISITORS} visitors who are all here at once`, () => {
  it('each talk to the TCP service by themselves', async () => {
    let most = 0
    let here = 0
    await exposeTcp((socket) => {
      here += 1
      most = Math.max(most, here)
      socket.on('close', () => {
        here -= 1
      })
      socket.pipe(socket)
    })
    const visitors = await arriving(async (number) => {
      const socket = visitPort()
      return { socket, said: await ask(socket, `I am ${number}`) }
    })
    expect(most).toBe(VISITORS)
    const again = visitors.map(({ socket }, number) => ask(socket, `still ${number}`))
    expect(visitors.map(({ said }) => said)).toEqual(visitors.map((_, number) => `I am ${number}`))
    expect(await Promise.all(again)).toEqual(visitors.map((_, number) => `still ${number}`))
    for (const { socket } of visitors) socket.end()
    await expect.poll(() => here).toBe(0)
  })

  it('each get the answer of the HTTP server to their own request', async () => {
    const waiting: ServerResponse[] = []
    const http = createServer((asked, answer) => {
      answer.write(`to ${asked.url}: `)
      waiting.push(answer)
    })
    service = http
    exposure = await exposeAt(relay, { http: await listening(http) })
    const { url } = exposure.sites[0]!
    const responses = await arriving((number) => visit(relay, url, `/${number}`))
    expect(waiting).toHaveLength(VISITORS)
    for (const answer of waiting) answer.end('done')
    expect(await Promise.all(responses.map(text))).toEqual(
      responses.map((_, number) => `to /${number}: done`),
    )
  })
})

it('a relay that is killed and started again under load: no wrong byte, and then every connection works', async () => {
  const SIZE = atDepth(2_000_000, 500_000)
  const contents = Array.from({ length: atDepth(8, 4) }, () => randomBytes(SIZE))
  await exposeTcp((socket) => {
    socket.once('data', (chunk: Buffer) => socket.end(contents[chunk[0]!]!))
  })
  const publicAddress = exposure.sites[0]!.tcpAddress
  let whole = 0
  /** @returns whether it came whole; what came was right in any case */
  const download = async (number: number): Promise<boolean> => {
    const socket = visitPort()
    socket.on('error', () => {})
    socket.write(Buffer.of(number))
    const got = await allOf(socket)
    expect(digest(got)).toBe(digest(contents[number]!.subarray(0, got.length)))
    whole += got.length === SIZE ? 1 : 0
    return got.length === SIZE
  }
  let isOver = false
  const visitor = async (number: number): Promise<void> => {
    while (!isOver) if (!(await download(number))) await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const visitors = contents.map((_, number) => visitor(number))
  await expect.poll(() => whole).toBeGreaterThan(contents.length)
  await relay.kill()
  await expect.poll(() => exposure.sites[0]!.state).toBe('reconnecting')
  await relay.start()
  await expect.poll(() => exposure.sites[0]!.state).toBe('online')
  expect(exposure.sites[0]!.tcpAddress).toBe(publicAddress)
  expect(await Promise.all(contents.map((_, number) => download(number)))).not.toContain(false)
  isOver = true
  await Promise.all(visitors)
})

async function exposeTcp(serve: (socket: Socket) => void): Promise<void> {
  service = tcpServer(serve)
  exposure = await exposeAt(relay, { tcp: await listening(service) })
}

function visitPort(): Socket {
  const port = Number(exposure.sites[0]!.tcpAddress!.split(':').at(-1))
  return connect({ port, host: '127.0.0.1' })
}

async function ask(socket: Socket, question: string): Promise<string> {
  socket.write(question)
  const [answer] = await once(socket, 'data')
  return String(answer)
}

/** Whatever ends it. */
function allOf(socket: Socket): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('close', () => resolve(Buffer.concat(chunks)))
  })
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Calls `visitor` for all visitors, in their order. */
async function arriving<T>(visitor: (number: number) => Promise<T>): Promise<T[]> {
  const visitors: T[] = []
  const numbers = Array(VISITORS).keys()
  const one = async (): Promise<void> => {
    for (const number of numbers) visitors[number] = await visitor(number)
  }
  await Promise.all(Array.from({ length: ARRIVING }, one))
  return visitors
}
