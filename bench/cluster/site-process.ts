// A site that does the least that a site can: it decrypts nothing of its visitors, and its sessions are streams of one native
// connection for each lease, to one machine. `site-process.ts URL CAFILE`; it ends with its parent.
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { BINDING_BYTES, encodeCapability, MARKER, STREAM_ANSWER, YAMUX_UPGRADE } from '@svc/protocol'
import { Session, type Stream } from '@svc/yamux'
import { dial } from '../../sdk-node/src/carrier/dial.ts'
import { attachTo } from '../../sdk-node/src/carrier/native-transport.ts'
import { localhostLookup } from '../../sdk-node/src/net/localhost-lookup.ts'
import { newIdentity, RelayApi } from '../../tools/relay/api-client.ts'
import { type Hostnames, TRANSFER_BYTES } from './work.ts'

const READY = 8
const DIAL_MS = 30_000
const CHUNK: Uint8Array = new Uint8Array(64 * 1024).fill(7)
const ANSWER: Uint8Array = Uint8Array.of(0x2e)
const TTL_S = 600
const RECORD_HEADER_BYTES = 5

const [url = '', caFile = ''] = process.argv.slice(2)
const ca = readFileSync(caFile, 'utf8')
const api = new RelayApi(url, ca, 1)
process.on('disconnect', () => process.exit())
const hostnames: Hostnames = {
  ask: await online('ask', async (stream) => {
    await stream.write(ANSWER)
    await stream.read()
  }),
  download: await online('download', async (stream) => {
    for (let sent = 0; sent < TRANSFER_BYTES; sent += CHUNK.length) await stream.write(CHUNK)
  }),
  upload: await online('upload', async (stream) => {
    await stream.write(ANSWER)
    let left = TRANSFER_BYTES
    for (let bytes = await stream.read(); bytes !== undefined; bytes = await stream.read())
      left -= bytes.length
    if (left !== 0) throw new Error(`${left} bytes are missing`)
  }),
}
process.send!(hostnames)

/** @returns the hostname of a lease whose visitors get what `serve` does, once its sessions are ready */
async function online(name: string, serve: Serve): Promise<string> {
  const { hostname, reverse_endpoint } = await api.register(newIdentity(), name, { ttl: TTL_S })
  const { capability } = reverse_endpoint
  const endpoint = new URL(reverse_endpoint.url)
  endpoint.port = new URL(url).port
  const tls = { secureContext: createSecureContext({ ca }), lookup: localhostLookup }
  const target = { url: endpoint, upgrade: YAMUX_UPGRADE, capability, tls, keepSession: () => {} } as const
  const dialed = await dial(target, AbortSignal.timeout(DIAL_MS))
  const { session } = attachTo(dialed, (transport) => {
    const session = new Session(transport, { role: 'client' })
    return {
      session,
      message: (bytes: Uint8Array) => session.receive(bytes),
      closed: () => session.transportClosed(),
    }
  })
  for (let ready = 0; ready < READY; ready++) await offer(session, capability, serve)
  return hostname
}

type Serve = (stream: Stream) => Promise<void>

/** Resolves when a stream is ready. When it is a visitor's, another one becomes ready. */
async function offer(session: Session, capability: string, serve: Serve): Promise<void> {
  const stream = await session.open()
  await stream.write(encodeCapability(capability))
  const [answer] = await exactly(stream, 1)
  if (answer !== STREAM_ANSWER.accepted) throw new Error(`the relay answered ${answer}`)
  void (async () => {
    await activated(stream)
    const next = offer(session, capability, serve)
    await serve(stream)
    await stream.end()
    await next
  })().catch((error) => {
    console.error(error)
    process.exit(1)
  })
}

/** Resolves when the binding and the ClientHello have come. */
async function activated(stream: Stream): Promise<void> {
  let marker: number | undefined
  while (marker !== MARKER.tls) [marker] = await exactly(stream, 1)
  await exactly(stream, BINDING_BYTES)
  const header = await exactly(stream, RECORD_HEADER_BYTES)
  await exactly(stream, header.readUInt16BE(3))
}

async function exactly(stream: Stream, length: number): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for (let left = length; left > 0; ) {
    const bytes = await stream.read({ maxBytes: left })
    if (bytes === undefined) throw new Error('the relay ended the stream')
    pieces.push(bytes)
    left -= bytes.length
  }
  return Buffer.concat(pieces)
}
