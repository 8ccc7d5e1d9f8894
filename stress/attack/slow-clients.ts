// Everything at one byte a second: hellos, heads, bodies, WebSocket frames and yamux streams, and readers who take a few
// bytes a second of an answer. Each is a client that does nothing wrong and is never done.
import { PATH } from '@svc/protocol'
import { captureHello } from '../../tools/network/client-hello.ts'
import type { ClientAttack, Facts } from './attack.ts'
import {
  capabilityBytes,
  FLAG,
  webSocketFrame,
  webSocketRequest,
  YAMUX,
  yamuxFrame,
} from './carrier-frames.ts'
import { openTcp, openTls, registerLease, type Target, untilThen } from './target.ts'

const MB = 1e6
const BYTE_EVERY_MS = 1000
/** Clients of each kind. */
const CLIENTS = 60
const ADDRESSES = 40

interface Line {
  write(bytes: Buffer): unknown
  closed: Promise<unknown>
  destroy(): void
}

interface Slow {
  open(number: number): Promise<Line>
  /** The bytes that are sent at once. */
  first: string
  /** The bytes that are sent slowly. */
  rest: Buffer
}

export const attack: ClientAttack = {
  by: 'clients',
  what: 'everything at one byte a second',
  seconds: 40,
  sliceSeconds: 2,
  least: { 'slow clients': 6 * CLIENTS },
  bounds: {
    memoryGrowthMaxBytes: 96 * MB,
    // These clients send 400 bytes in a second; most of the relay's work meanwhile is for honest visitors.
    processorShareMax: 0.8,
  },
  run,
}

async function run(target: Target, begin: () => number): Promise<Facts> {
  const kinds = await kindsOf(target)
  const until = begin()
  let bytes = 0
  let clients = 0
  const drip = async ({ open, first, rest }: Slow, number: number): Promise<void> => {
    clients += 1
    while (Date.now() < until) {
      const line = await open(number)
      let isClosed = false
      line.closed.then(() => {
        isClosed = true
      })
      line.write(Buffer.from(first, 'latin1'))
      for (let at = 0; at < rest.length && !isClosed && Date.now() < until; at++) {
        line.write(rest.subarray(at, at + 1))
        bytes += 1
        await untilThen(Math.min(until, Date.now() + BYTE_EVERY_MS))
      }
      line.destroy()
    }
  }
  await Promise.all(
    kinds.flatMap((kind) => Array.from({ length: CLIENTS }, (_, number) => drip(kind, number))),
  )
  return { 'slow clients': clients, 'bytes sent': bytes }
}

async function kindsOf(target: Target): Promise<Slow[]> {
  const { capability } = (await registerLease(target, 'slow', 0)).reverse_endpoint
  const host = `Host: ${target.rootHost}:${target.port}\r\n`
  const hellos = await Promise.all([target.rootHost, target.siteHost].map((name) => captureHello(name)))
  const overTls = (servername: string) => (number: number) => tlsLine(target, servername, number)
  const filler = Buffer.alloc(1000, 'x')
  const post = `POST ${PATH.registerChallenge} HTTP/1.1\r\n${host}Content-Length: 1000\r\n\r\n`
  const webSocket = webSocketRequest(target, capability)
  // a whole frame that opens a stream, and then, byte by byte, one with its capability
  const presented = yamuxFrame(YAMUX.data, FLAG.none, 1, capabilityBytes(capability))
  const open = webSocketFrame(yamuxFrame(YAMUX.window, FLAG.syn, 1)).toString('latin1')
  return [
    ...hellos.map((hello): Slow => ({ open: (number) => tcpLine(target, number), first: '', rest: hello })),
    { open: overTls(target.rootHost), first: '', rest: Buffer.from(`GET / HTTP/1.1\r\n${host}X: ${filler}`) },
    { open: overTls(target.rootHost), first: post, rest: filler },
    { open: overTls(target.rootHost), first: webSocket + open, rest: webSocketFrame(presented) },
    { open: overTls(target.siteHost), first: '', rest: Buffer.from(`GET / HTTP/1.1\r\n${host}X: ${filler}`) },
  ]
}

async function tcpLine(target: Target, number: number): Promise<Line> {
  const tcp = await openTcp(target.port, number % ADDRESSES)
  tcp.resume()
  return lineOf(tcp, tcp)
}

async function tlsLine(target: Target, servername: string, number: number): Promise<Line> {
  const { tls, tcp } = await openTls(target, servername, number % ADDRESSES)
  tls.resume()
  return lineOf(tls, tcp)
}

function lineOf(
  socket: { write(bytes: Buffer): unknown },
  tcp: {
    once(event: 'close', listener: (value: unknown) => void): unknown
    destroy(): unknown
    destroyed: boolean
  },
): Line {
  return {
    write: (bytes) => socket.write(bytes),
    closed: tcp.destroyed ? Promise.resolve() : new Promise((resolve) => tcp.once('close', resolve)),
    destroy: () => void tcp.destroy(),
  }
}
