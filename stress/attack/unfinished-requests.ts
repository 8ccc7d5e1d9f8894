// Writers who do not write: bodies, heads, ClientHellos, WebSocket frames and yamux streams that begin and never end. What
// has come has to be kept until its deadline, so it must not be much.
import { WEBSOCKET_MESSAGE_MAX_BYTES as MESSAGE_BYTES, PATH } from '@svc/protocol'
import { captureHello } from '../../tools/network/client-hello.ts'
import type { ClientAttack, Facts } from './attack.ts'
import {
  capabilityBytes,
  FLAG,
  webSocketFrame,
  webSocketHeader,
  webSocketRequest,
  YAMUX,
  yamuxFrame,
} from './carrier-frames.ts'
import { openTcp, openTls, registerLease, type Target, untilThen } from './target.ts'

const MB = 1e6
/** Clients of each kind. */
const WRITERS = 100
/** Stalled uploads take the most. */
const UPLOADERS = 300
const ADDRESSES = 20
/** The contract's bound on a body is 4 MiB: one byte less than all of it comes. */
const BODY_BYTES: number = 4 * 1024 * 1024
const BODY_PIECE: Buffer = Buffer.alloc(BODY_BYTES - 1, 'x')
/** A ClientHello may have 64 KiB. */
const HELLO_RECORD_BYTES = 16_000
const HELLO_RECORDS = 3
const HEAD_BYTES = 15_000
/** A lease has eight WebSockets at most, half of them here for messages and half for streams; others are refused. */
const CARRIERS = 4
const STREAMS = 256
const AGAIN_MS = 250

/** Sends the beginning of something, and resolves when the relay has closed the connection. */
type Writer = (number: number) => Promise<Ended>

interface Ended {
  closed: Promise<unknown>
  destroy(): void
}

export const attack: ClientAttack = {
  by: 'clients',
  what: 'writers begin bodies, heads, hellos and streams, and never end them',
  seconds: 40,
  sliceSeconds: 3,
  least: { 'unfinished things': UPLOADERS + 3 * WRITERS },
  bounds: {
    // The relay keeps at most 64 MiB of bodies without a verified token; the rest is buffers of 700 sockets.
    memoryGrowthMaxBytes: 160 * MB,
  },
  run,
}

async function run(target: Target, begin: () => number): Promise<Facts> {
  const capability = (await registerLease(target, 'unfinished', 0)).reverse_endpoint.capability
  const hello = await captureHello(target.siteHost)
  const until = begin()
  const kinds: [Writer, number][] = [
    ...[PATH.registerChallenge, PATH.register, PATH.renew, PATH.sign, PATH.adminLogin].map(
      (path): [Writer, number] => [body(target, path), UPLOADERS / 5],
    ),
    [head(target), WRITERS],
    [firstBytes(target, hello.subarray(0, hello.length - 1)), WRITERS],
    [firstBytes(target, longHello()), WRITERS],
    [message(target, capability), CARRIERS],
    [streams(target, capability), CARRIERS],
  ]
  let begun = 0
  const write = async (writer: Writer, number: number): Promise<void> => {
    while (Date.now() < until) {
      const { closed, destroy } = await writer(number)
      begun += 1
      await Promise.race([closed, untilThen(until)])
      destroy()
      await untilThen(Math.min(until, Date.now() + AGAIN_MS))
    }
  }
  const writers = kinds.flatMap(([writer, count]) => Array.from({ length: count }, () => writer))
  await Promise.all(writers.map(write))
  return { 'unfinished things': begun }
}

function body(target: Target, path: string): Writer {
  const fields = `Host: ${target.rootHost}:${target.port}\r\nContent-Type: application/json\r\n`
  const begin = `POST ${path} HTTP/1.1\r\n${fields}Content-Length: ${BODY_BYTES}\r\n\r\n`
  return async (number) => await sent(target, target.rootHost, number, begin, BODY_PIECE)
}

function head(target: Target): Writer {
  const begin = `GET / HTTP/1.1\r\nHost: ${target.rootHost}:${target.port}\r\nX: ${'x'.repeat(HEAD_BYTES)}`
  return async (number) => await sent(target, target.rootHost, number, begin)
}

/** A message as long as the relay takes one, of which all but the last bytes come. */
function message(target: Target, capability: string): Writer {
  const frame = Buffer.concat([webSocketHeader(MESSAGE_BYTES), Buffer.alloc(MESSAGE_BYTES - 10)])
  return async (number) =>
    await sent(target, target.rootHost, number, webSocketRequest(target, capability), frame)
}

/** Streams of a WebSocket that send half of their capability. */
function streams(target: Target, capability: string): Writer {
  const half = capabilityBytes(capability).subarray(0, capability.length / 2)
  const all = Buffer.concat(
    Array.from({ length: STREAMS }, (_, index) => yamuxFrame(YAMUX.data, FLAG.syn, 2 * index + 1, half)),
  )
  return async (number) =>
    await sent(target, target.rootHost, number, webSocketRequest(target, capability), webSocketFrame(all))
}

/** Sends without TLS, which there is not yet. */
function firstBytes(target: Target, bytes: Buffer): Writer {
  return async (number) => {
    const tcp = await openTcp(target.port, number % ADDRESSES)
    tcp.write(bytes)
    tcp.resume()
    return { closed: new Promise((resolve) => tcp.once('close', resolve)), destroy: () => tcp.destroy() }
  }
}

/** Three full records of a ClientHello that says it is longer (RFC 8446 §4, §5.1). */
function longHello(): Buffer {
  const record = Buffer.alloc(5 + HELLO_RECORD_BYTES)
  record.set([0x16, 0x03, 0x01])
  record.writeUInt16BE(HELLO_RECORD_BYTES, 3)
  const first = Buffer.from(record)
  first.set([0x01, 0x00, 0xfa, 0x00], 5)
  return Buffer.concat([first, ...Array.from({ length: HELLO_RECORDS - 1 }, () => record)])
}

async function sent(
  target: Target,
  host: string,
  number: number,
  ...pieces: (string | Buffer)[]
): Promise<Ended> {
  const { tls, tcp } = await openTls(target, host, number % ADDRESSES)
  for (const piece of pieces) tls.write(piece)
  // the response does not matter
  tls.resume()
  return { closed: new Promise((resolve) => tcp.once('close', resolve)), destroy: () => tcp.destroy() }
}
