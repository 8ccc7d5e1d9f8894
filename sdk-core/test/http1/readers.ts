// The same bytes read by this server and by Node's (llhttp): what each takes for requests.

import { createServer, type IncomingMessage } from 'node:http'
import { Duplex } from 'node:stream'
import { DIRECT, type DirectHandler, type DirectlyHandled } from '../../src/exchange/direct.ts'
import { serveHttp1 } from '../../src/http1/connection.ts'
import { HEAD_BYTES } from '../../src/semantics/limits.ts'
import { MemoryStream } from '../support/memory-stream.ts'

/** A request that was understood to the end of its body. */
export interface Understood {
  method: string
  url: string
  body: string
}

/** The ways of a request through this server. */
export const WAYS = ['Request', 'direct'] as const
export type Way = (typeof WAYS)[number]

/** What this server understands of `pieces`. */
export async function readByUs(pieces: Uint8Array[], way: Way = 'Request'): Promise<Understood[]> {
  const understood: Understood[] = []
  const [visitor, server] = MemoryStream.pair()
  const served = serveHttp1(server, {
    fetch: way === 'direct' ? directReader(understood) : requestReader(understood),
    isOwnHost: () => true,
    canonicalUrl: 'https://site.example/',
    onError(error) {
      throw error
    },
  })
  const drained = (async () => {
    while (await visitor.read());
  })().catch(() => {})
  for (const piece of pieces) await visitor.write(piece).catch(() => {})
  await visitor.end()
  await Promise.all([served, drained])
  return understood
}

function requestReader(understood: Understood[]): DirectlyHandled {
  return async (request) => {
    const body = Buffer.from(await request.arrayBuffer()).toString('latin1')
    understood.push({ method: request.method, url: request.url, body })
    return new Response()
  }
}

function directReader(understood: Understood[]): DirectlyHandled {
  // An upgrade needs a Request.
  const handler = requestReader(understood)
  const direct: DirectHandler = ({ method, url, body }) => ({
    async respond() {
      const pieces: Uint8Array[] = []
      for (let bytes = await body?.next(); bytes; bytes = await body?.next()) pieces.push(bytes)
      understood.push({ method, url: url.href, body: Buffer.concat(pieces).toString('latin1') })
      const nothing = { pieces: [], size: 0, done: true }
      const response = { status: 200, statusText: '', fields: [], length: undefined }
      return { ...response, ready: () => nothing, next: async () => nothing, cancel() {} }
    },
    cancel() {},
  })
  handler[DIRECT] = direct
  return handler
}

const understoodByNode = new WeakMap<Duplex, Understood[]>()
const node = createServer({ insecureHTTPParser: false, maxHeaderSize: HEAD_BYTES })
// Else the end of the input would cut off requests that are complete.
Object.assign(node, { httpAllowHalfOpen: true })
// Not at once: requests in front of the malformed one were understood and have yet to be read.
node.on('clientError', (_, socket) => setImmediate(() => socket.destroy()))
node.on('request', (request, response) => {
  const chunks: Buffer[] = []
  request.on('error', () => {})
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString('latin1')
    const understood = { method: request.method!, url: urlOf(request), body }
    if (request.complete) understoodByNode.get(request.socket)?.push(understood)
    response.end()
  })
})
/** Node keeps a connection open that it waits for more from; it has decided about all that came by then. */
const NODE_WAITS_MS = 500

/** What Node understands of `bytes`. */
export async function readByNode(bytes: Uint8Array): Promise<Understood[]> {
  const understood: Understood[] = []
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  understoodByNode.set(socket, understood)
  const closed = new Promise<void>((resolve) => socket.on('close', resolve))
  const timer = setTimeout(() => socket.destroy(), NODE_WAITS_MS)
  node.emit('connection', socket)
  socket.push(bytes)
  socket.push(null)
  await closed
  clearTimeout(timer)
  return understood
}

function urlOf({ url, headers }: IncomingMessage): string {
  const base = `https://${headers.host ?? 'site.example'}`
  const target = url!.startsWith('/') ? base + url : url!
  return URL.parse(target)?.href ?? target
}
