// Random bytes, and bytes that are nearly right, to every port that the relay has: the SNI listener before and within TLS,
// WebSockets, native sessions, the dedicated TCP port, metrics; and datagrams to the dedicated UDP port and to QUIC's.
import { createSocket } from 'node:dgram'
import { setTimeout as pause } from 'node:timers/promises'
import { captureHello } from '../../tools/network/client-hello.ts'
import type { Random } from '../soak/random.ts'
import type { ClientAttack, Facts } from './attack.ts'
import {
  capabilityBytes,
  FLAG,
  webSocketFrame,
  webSocketRequest,
  YAMUX,
  yamuxFrame,
} from './carrier-frames.ts'
import { everyRequest } from './requests.ts'
import { addressOf, openTcp, openTls, registerLease, type Target } from './target.ts'

const CLIENTS = 24
const BYTES_MAX = 20_000
/** Milliseconds from the bytes to the end of the connection: the relay has answered by then. */
const LINGER_MS = 30
/** The smallest QUIC Initial (RFC 9000 §14.1). */
const INITIAL_BYTES = 1200
/** Each of the datagram clients sends this many, and then rests so long: 800 a second in all, which is no flood. */
const DATAGRAMS = 20
const DATAGRAM_PAUSE_MS = 100
const DATAGRAM_CLIENTS = 4

type Throw = (client: number) => Promise<void>

export const attack: ClientAttack = {
  by: 'clients',
  what: 'random bytes to every port',
  seconds: 40,
  sliceSeconds: 2,
  least: { connections: 2_000, datagrams: 10_000 },
  run,
}

async function run(target: Target, begin: () => number, random: Random): Promise<Facts> {
  const ways = await waysOf(target, random)
  const until = begin()
  const facts = { connections: 0, datagrams: 0 }
  const client = async (number: number): Promise<void> => {
    while (Date.now() < until) {
      await random.of(ways)(number)
      facts.connections += 1
    }
  }
  const datagrams = async (number: number): Promise<void> => {
    const socket = createSocket('udp4')
    socket.on('error', () => {}).bind(0, addressOf(number))
    while (Date.now() < until) {
      for (let sent = 0; sent < DATAGRAMS; sent++) {
        const [port, bytes] = number % 2 ? [target.udpPort, junk(random, 1500)] : [target.port, quic(random)]
        socket.send(bytes, port, '127.0.0.1')
        facts.datagrams += 1
      }
      await pause(DATAGRAM_PAUSE_MS)
    }
    socket.close()
  }
  await Promise.all([
    ...Array.from({ length: CLIENTS }, (_, number) => client(number)),
    ...Array.from({ length: DATAGRAM_CLIENTS }, (_, number) => datagrams(number)),
  ])
  return facts
}

async function waysOf(target: Target, random: Random): Promise<Throw[]> {
  const lease = await registerLease(target, 'random', 0)
  const { capability } = lease.reverse_endpoint
  const hellos = await Promise.all([target.rootHost, target.siteHost].map((name) => captureHello(name)))
  const requests = everyRequest(target, lease).map(({ head, body }) => Buffer.from(head + body))
  const upgrade = Buffer.from(webSocketRequest(target, capability))
  const native = Buffer.from(
    `GET /sdk/connect HTTP/1.1\r\nHost: ${target.rootHost}\r\nX-Svc-Reverse-Capability: ${capability}\r\n\r\n`,
  )
  const bytes = (): Buffer => junk(random, BYTES_MAX)
  return [
    ...[target.port, target.tcpPort, target.metricsPort].map((port) => plain(port, bytes)),
    plain(target.port, () => Buffer.concat([Buffer.from([0x16, 3, 1, random.between(0, 63), 0]), bytes()])),
    plain(target.port, () => mutated(random, random.of(hellos))),
    plain(target.port, () => Buffer.concat([random.of(hellos), bytes()])),
    plain(target.metricsPort, () => mutated(random, Buffer.from('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n'))),
    within(target, target.rootHost, bytes),
    within(target, target.siteHost, bytes),
    within(target, target.siteHost, () => mutated(random, random.of(requests))),
    ...Array.from({ length: 4 }, () =>
      within(target, target.rootHost, () => mutated(random, random.of(requests))),
    ),
    within(target, target.rootHost, () => Buffer.concat([native, bytes()])),
    within(target, target.rootHost, () => Buffer.concat([upgrade, bytes()])),
    within(target, target.rootHost, () => Buffer.concat([upgrade, webSocketFrame(bytes())])),
    within(target, target.rootHost, () =>
      Buffer.concat([upgrade, webSocketFrame(mutated(random, streamOf(capability, bytes())))]),
    ),
  ]
}

/** A stream that is accepted, and says something before it is asked. */
function streamOf(capability: string, bytes: Buffer): Buffer {
  return Buffer.concat([
    yamuxFrame(YAMUX.data, FLAG.syn, 1, capabilityBytes(capability)),
    yamuxFrame(YAMUX.data, FLAG.none, 1, bytes),
    yamuxFrame(YAMUX.window, FLAG.fin, 1),
  ])
}

function plain(port: number, make: () => Buffer): Throw {
  return async (client) => {
    const socket = await openTcp(port, client)
    socket.resume().write(make())
    await pause(LINGER_MS)
    socket.destroy()
  }
}

function within(target: Target, servername: string, make: () => Buffer): Throw {
  return async (client) => {
    const { tls, tcp } = await openTls(target, servername, client)
    tls.resume().write(make())
    await pause(LINGER_MS)
    tcp.destroy()
  }
}

function junk(random: Random, most: number): Buffer {
  return random.bytes(random.between(1, most))
}

/** A few bytes are others, or missing, or there twice. */
function mutated(random: Random, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  for (let left = random.between(0, 4); left > 0; left--)
    copy[random.between(0, copy.length - 1)] = random.between(0, 255)
  const [from, to] = [random.between(0, copy.length), random.between(0, copy.length)]
  return random.next() < 0.5 ? copy : Buffer.concat([copy.subarray(0, from), copy.subarray(to)])
}

/** A long header of QUIC's first version, and then anything (RFC 9000 §17.2). */
function quic(random: Random): Buffer {
  const packet = random.bytes(INITIAL_BYTES)
  if (random.next() < 0.2) return packet.subarray(0, random.between(1, INITIAL_BYTES))
  packet.set([0xc0 | random.between(0, 63), 0, 0, 0, random.next() < 0.8 ? 1 : random.between(0, 255)])
  packet[5] = random.next() < 0.9 ? 8 : random.between(0, 255)
  return packet
}
