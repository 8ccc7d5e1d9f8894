// Clients that go away at every stage of every route, in every way that a client can go: a relay that forgets to let go of
// one descriptor for each runs out of them.
import { setTimeout as pause } from 'node:timers/promises'
import { PATH, type RegisterResponse } from '@svc/protocol'
import { captureHello } from '../../tools/network/client-hello.ts'
import type { Random } from '../soak/random.ts'
import type { ClientAttack, Facts } from './attack.ts'
import { webSocketHeader, webSocketRequest } from './carrier-frames.ts'
import { everyRequest, type RawRequest } from './requests.ts'
import { openTcp, openTls, registerLease, type Target, type Tls } from './target.ts'

/** Clients at once: enough that they overlap in every order, and fewer than the relay allows one address. */
const CLIENTS = 32
/** A client that waits for the middle of an answer gives up after this. */
const PATIENCE_MS = 1000
/** Milliseconds from half a message to the end: the relay has begun with it by then. */
const LINGER_MS = 5
const TENANT_PATHS = ['/', '/download', '/large']

/** A client leaves in one of these ways: with a FIN, by closing at once, or with a reset. */
const WAYS = ['end', 'destroy', 'reset'] as const
/** Up to where a request gets. */
const STAGES = ['half a head', 'half a body', 'no answer yet', 'mid-answer'] as const

type Case = (client: number) => Promise<Goer>

/** The clients to end. */
interface Goer {
  end(): void
  destroy(): void
  reset(): void
}

export const attack: ClientAttack = {
  by: 'clients',
  what: 'clients go away at every stage of every route',
  seconds: 40,
  sliceSeconds: 3,
  least: { 'aborted connections': 2_000, rounds: 2 },
  run,
}

async function run(target: Target, begin: () => number, random: Random): Promise<Facts> {
  const cases = await casesOf(target)
  const pairs = random.shuffled(cases.flatMap((one) => WAYS.map((way) => [one, way] as const)))
  const until = begin()
  let next = 0
  const client = async (number: number): Promise<void> => {
    while (Date.now() < until) {
      const [open, way] = pairs[next % pairs.length]!
      next += 1
      const goer = await open(number)
      await pause(LINGER_MS)
      goer[way]()
      if (way === 'end') setTimeout(() => goer.destroy(), PATIENCE_MS)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)))
  return { 'aborted connections': next, rounds: Math.floor(next / pairs.length), cases: pairs.length }
}

async function casesOf(target: Target): Promise<Case[]> {
  const lease = await registerLease(target, 'leaver', 0)
  const hellos = await Promise.all([target.rootHost, target.siteHost].map((name) => captureHello(name)))
  return [
    ...[target.port, target.tcpPort, target.metricsPort].map((port) => connected(port)),
    ...hellos.map((hello) => connected(target.port, hello.subarray(0, hello.length / 2))),
    connected(target.tcpPort, Buffer.alloc(100_000)),
    connected(target.metricsPort, Buffer.from('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n')),
    ...[target.rootHost, target.siteHost].map((host) => handshaken(target, host)),
    ...everyRequest(target, lease).flatMap((request) =>
      STAGES.map((stage) => requested(target, request, stage)),
    ),
    ...TENANT_PATHS.flatMap((path) =>
      STAGES.map((stage) => requested(target, tenantRequest(target, path), stage)),
    ),
    ...STAGES.flatMap((stage) => [
      requested(target, nativeSession(target, lease), stage),
      requested(target, webSocket(target, lease), stage),
    ]),
  ]
}

function connected(port: number, first?: Buffer): Case {
  return async (client) => {
    const socket = await openTcp(port, client)
    if (first) socket.write(first)
    return {
      end: () => socket.end(),
      destroy: () => socket.destroy(),
      reset: () => socket.resetAndDestroy(),
    }
  }
}

function handshaken(target: Target, host: string): Case {
  return async (client) => goerOf(await openTls(target, host, client))
}

function requested(target: Target, request: RawRequest, stage: (typeof STAGES)[number]): Case {
  const host = request.head.includes(`Host: ${target.siteHost}`) ? target.siteHost : target.rootHost
  return async (client) => {
    const connection = await openTls(target, host, client)
    const { head, body } = request
    const sent =
      stage === 'half a head'
        ? head.slice(0, head.length / 2)
        : head + (stage === 'half a body' ? body.slice(0, body.length / 2) : body)
    connection.tls.write(sent, 'latin1')
    if (stage === 'mid-answer') await firstBytes(connection)
    return goerOf(connection)
  }
}

function tenantRequest({ siteHost, port }: Target, path: string): RawRequest {
  const [method, body] = path === '/large' ? (['POST', 'x'.repeat(500_000)] as const) : (['GET', ''] as const)
  const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`
  return {
    method,
    path,
    body,
    head: `${method} ${path} HTTP/1.1\r\nHost: ${siteHost}:${port}\r\n${length}\r\n`,
  }
}

function nativeSession({ rootHost, port }: Target, lease: RegisterResponse): RawRequest {
  const capability = `X-Svc-Reverse-Capability: ${lease.reverse_endpoint.capability}`
  const head = `GET ${PATH.connect} HTTP/1.1\r\nHost: ${rootHost}:${port}\r\n${capability}\r\n\r\n`
  return { method: 'GET', path: PATH.connect, head, body: '' }
}

/** Behind its upgrade comes the head of a frame. */
function webSocket(target: Target, lease: RegisterResponse): RawRequest {
  const head = webSocketRequest(target, lease.reverse_endpoint.capability)
  return { method: 'GET', path: PATH.connect, head, body: webSocketHeader(1000).toString('latin1') }
}

/** Waits for the first bytes of the response; it reads no further. */
async function firstBytes({ tls }: Tls): Promise<void> {
  if (tls.destroyed) return
  const over = new AbortController()
  await Promise.race([
    new Promise((resolve) => tls.once('readable', resolve).once('close', resolve)),
    pause(PATIENCE_MS, undefined, { signal: over.signal }).catch(() => {}),
  ])
  over.abort()
}

function goerOf({ tcp, tls }: Tls): Goer {
  return {
    end: () => tls.end(),
    destroy: () => tls.destroy(),
    reset: () => tcp.resetAndDestroy(),
  }
}
