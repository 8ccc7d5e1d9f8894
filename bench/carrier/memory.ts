// What an idle WebSocket and an idle reverse stream cost the relay, in memory.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:https'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  encodeCapability,
  PATH,
  READY_SESSIONS_MAX,
  type RegisterChallengeResponse,
  type RegisterResponse,
  STREAM_ANSWER,
  SUBPROTOCOL,
} from '@svc/protocol'
import type { Session } from '@svc/yamux'
import { WebSocket } from 'ws'
import { identityFromKey } from '../../sdk-browser/src/identity/key.ts'
import { type Entry, limited } from '../lib/entry.ts'
import { BenchRelay } from './relay.ts'
import { SOCKET_OPTIONS, sessionOver } from './websocket-end.ts'

const LEASES = 300
const SOCKET_MAX_KB = 60
const STREAM_MAX_KB = 12
/** For what was just opened to come to rest. */
const SETTLE_MS = 500
const EXEC_ARGV = ['--expose-gc', '--import', path.join(import.meta.dirname, 'memory-probe.ts')]

interface Memory {
  rss: number
  heap: number
}

export async function* memory(): AsyncGenerator<Entry> {
  const relay = await BenchRelay.start({ execArgv: EXEC_ARGV })
  const ca = await relay.ca()
  const capabilities: string[] = []
  for (let i = 0; i < LEASES; i++) capabilities.push(await register(relay, ca, `lease-${i}`))

  const before = await memoryOf(relay)
  const sessions: { session: Session; capability: string }[] = []
  for (const capability of capabilities)
    sessions.push({ session: await connect(relay, ca, capability), capability })
  const withSockets = await memoryOf(relay)
  for (const { session, capability } of sessions)
    for (let i = 0; i < READY_SESSIONS_MAX; i++) await offer(session, capability)
  const withStreams = await memoryOf(relay)

  const question = { unit: 'KB', better: 'less' } as const
  const perSocket = grownKb(before, withSockets) / LEASES
  yield limited({ ...question, name: 'relay memory, idle WebSocket' }, perSocket, SOCKET_MAX_KB)
  const perStream = grownKb(withSockets, withStreams) / (LEASES * READY_SESSIONS_MAX)
  yield limited({ ...question, name: 'relay memory, idle reverse stream' }, perStream, STREAM_MAX_KB)
  for (const { session } of sessions) session.close()
  await relay.stop()
}

/** The process may grow into what it had, and its heap knows nothing of OpenSSL's: whichever grew more. */
function grownKb(before: Memory, after: Memory): number {
  return Math.max(after.rss - before.rss, after.heap - before.heap) / 1024
}

async function memoryOf(relay: BenchRelay): Promise<Memory> {
  await pause(SETTLE_MS)
  const memory = relay.line<Memory>('memory')
  process.kill(relay.pid, 'SIGUSR2')
  return memory
}

/** @returns the lease's reverse capability */
async function register(relay: BenchRelay, ca: string, name: string): Promise<string> {
  const identity = identityFromKey(new Uint8Array(randomBytes(32)))
  const challenge = await call<RegisterChallengeResponse>(relay, ca, PATH.registerChallenge, {
    identity: { name, address: identity.address },
    ttl: 600,
  })
  const registered = await call<RegisterResponse>(relay, ca, PATH.register, {
    challenge_id: challenge.challenge_id,
    siwe_message: challenge.siwe_message,
    siwe_signature: identity.personalSign(challenge.siwe_message),
  })
  return registered.reverse_endpoint.capability
}

async function call<T>({ url, port }: BenchRelay, ca: string, path: string, body: unknown): Promise<T> {
  const { host, hostname } = new URL(url)
  const sent = request({
    host: '127.0.0.1',
    servername: hostname,
    port,
    ca,
    method: 'POST',
    path,
    headers: { Host: host, 'Content-Type': 'application/json' },
  })
  sent.end(JSON.stringify(body))
  const [response] = await once(sent, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  if (response.statusCode !== 201) throw new Error(`${path}: ${response.statusCode} ${text}`)
  return JSON.parse(text).data
}

async function connect({ url, port }: BenchRelay, ca: string, capability: string): Promise<Session> {
  const { host, hostname } = new URL(url)
  // `servername` reaches tls.connect, though the types of ws do not name it.
  const options = { ...SOCKET_OPTIONS, ca, servername: hostname, headers: { Host: host } }
  const socket = new WebSocket(`wss://127.0.0.1:${port}${PATH.connect}`, [SUBPROTOCOL, capability], options)
  await once(socket, 'open')
  socket.on('error', () => {})
  return sessionOver(socket, { role: 'client' })
}

/** Presents the capability on a new stream, and waits for the relay's byte. */
async function offer(session: Session, capability: string): Promise<void> {
  const stream = await session.open()
  await stream.write(encodeCapability(capability))
  const answer = await stream.read()
  if (answer?.[0] !== STREAM_ANSWER.accepted) throw new Error(`the relay answered ${answer?.[0]}`)
}
