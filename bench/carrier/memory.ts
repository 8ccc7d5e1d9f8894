// Measures what an idle WebSocket and an idle reverse stream cost the relay, in memory.
import { once } from 'node:events'
import { encodeCapability, PATH, READY_SESSIONS_MAX, STREAM_ANSWER, SUBPROTOCOL } from '@svc/protocol'
import type { Session } from '@svc/yamux'
import { WebSocket } from 'ws'
import { newIdentity, RelayApi } from '../../tools/relay/api-client.ts'
import { type Entry, limited } from '../lib/entry.ts'
import { BenchRelay } from './relay.ts'
import { COLLECT_EVERY, grownKb, memoryOf, PROBED } from './relay-memory.ts'
import { SOCKET_OPTIONS, sessionOver } from './websocket-end.ts'

const LEASES = 300
const SOCKET_MAX_KB = 60
const STREAM_MAX_KB = 12

export async function* memory(): AsyncGenerator<Entry> {
  const relay = await BenchRelay.start({ execArgv: PROBED })
  const ca = await relay.ca()
  const api = new RelayApi(relay.url, ca, 1)
  const capabilities: string[] = []
  for (let i = 0; i < LEASES; i++) {
    const lease = await api.register(newIdentity(), `lease-${i}`)
    capabilities.push(lease.reverse_endpoint.capability)
  }
  api.close()

  const before = await memoryOf(relay)
  const sessions: { session: Session; capability: string }[] = []
  for (const capability of capabilities) {
    sessions.push({ session: await connect(relay, ca, capability), capability })
    if (sessions.length % COLLECT_EVERY === 0) await memoryOf(relay)
  }
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
