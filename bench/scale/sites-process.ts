// A share of the sites, with the least that a site is: a lease, a WebSocket, two ready streams. It ends with its parent.
import { once } from 'node:events'
import { Agent } from 'node:https'
import { createSecureContext } from 'node:tls'
import { encodeCapability, LEASE_TTL_MAX_S, PATH, STREAM_ANSWER, SUBPROTOCOL } from '@svc/protocol'
import type { Session, Stream } from '@svc/yamux'
import { WebSocket } from 'ws'
import { newIdentity, RelayApi } from '../../tools/relay/api-client.ts'
import { SOCKET_OPTIONS, sessionOver } from '../carrier/websocket-end.ts'
import { nameOf, type Share, workThrough } from './work.ts'

const AT_ONCE = 4
const READY = 2
const TTL_S: number = LEASE_TTL_MAX_S
const ANSWER: Uint8Array = Uint8Array.of(0x2e)

process.on('disconnect', () => process.exit())
const [share] = (await once(process, 'message')) as [Share]
const { url, ca, localAddress, connected, prefix } = share
const { host, hostname, port } = new URL(url)
const api = new RelayApi(url, ca, AT_ONCE, localAddress)
const identity = newIdentity()
const agent = new Agent({ secureContext: createSecureContext({ ca }), localAddress })
await workThrough(share, AT_ONCE, async (site) => {
  const lease = await api.register(identity, nameOf(prefix, site), { ttl: TTL_S })
  if (site < connected) await connect(lease.reverse_endpoint.capability)
})

async function connect(capability: string): Promise<void> {
  const options = { ...SOCKET_OPTIONS, agent, servername: hostname, headers: { Host: host } }
  const socket = new WebSocket(`wss://127.0.0.1:${port}${PATH.connect}`, [SUBPROTOCOL, capability], options)
  await once(socket, 'open')
  socket.on('error', () => {})
  const session = sessionOver(socket, { role: 'client' })
  for (let ready = 0; ready < READY; ready++) await offer(session, capability)
}

/** Resolves when a stream is ready. Its visitor gets one byte, and another stream becomes ready. */
async function offer(session: Session, capability: string): Promise<void> {
  const stream = await session.open()
  await stream.write(encodeCapability(capability))
  const answer = await stream.read()
  if (answer?.[0] !== STREAM_ANSWER.accepted) throw new Error(`the relay answered ${answer?.[0]}`)
  void serve(stream)
    .then(() => offer(session, capability))
    .catch(() => {})
}

async function serve(stream: Stream): Promise<void> {
  for (;;) {
    const bytes = await stream.read()
    if (bytes === undefined) throw new Error('the relay ended the stream')
    // A keepalive is one byte.
    if (bytes.length > 1) return await stream.write(ANSWER)
  }
}
