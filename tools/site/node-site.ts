// A site that this process publishes, and visitors of it that come to the relay without any fault.
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { Readable } from 'node:stream'
import { type NodePublishOptions, publish, type Site } from '@svc/sdk-node'
import type { FaultyRelay } from '../relay/faulty-relay.ts'

type SiteOptions = Partial<NodePublishOptions> & Pick<NodePublishOptions, 'fetch'>

export function publishNode(
  { url, ca }: Pick<FaultyRelay, 'url' | 'ca'>,
  name: string,
  options: SiteOptions,
): Promise<Site> {
  const identity = crypto.getRandomValues(new Uint8Array(32))
  return publish({ relay: url, name, ca, identity, ...options })
}

export interface Visitor {
  /** @returns the body of a response with status 200 */
  get(path: string, body?: Buffer): Promise<Buffer>
  /** @returns the response before its body is read */
  open(path: string): Promise<IncomingMessage>
  close(): void
}

/** Bytes of a body that are encrypted at once: the site is in the same process, and would seem frozen to the relay for much more. */
const PIECE_BYTES = 256 * 1024

/** @param sockets the number of connections that are kept and used again; 0 for a new one each time */
export function visitorOf(
  site: Pick<Site, 'url'>,
  { ca, port }: Pick<FaultyRelay, 'ca' | 'port'>,
  sockets = 0,
): Visitor {
  const { hostname, host } = new URL(site.url)
  const agent = new Agent({ keepAlive: sockets > 0, maxSockets: sockets || Number.POSITIVE_INFINITY })
  const send = (path: string, body?: Buffer): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const where = { host: '127.0.0.1', port, servername: hostname, ca, agent, path }
      const length = body && { 'Content-Length': body.length }
      const asked = request({ ...where, method: body ? 'POST' : 'GET', headers: { Host: host, ...length } })
      asked.on('response', resolve).on('error', reject)
      if (body === undefined) asked.end()
      else Readable.from(piecesOf(body)).pipe(asked)
    })
  return {
    get: async (path, body) => {
      const response = await send(path, body)
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      const answer = Buffer.concat(chunks)
      if (response.statusCode === 200) return answer
      throw new Error(`${path} was answered with ${response.statusCode}: ${answer}`)
    },
    open: (path) => send(path),
    close: () => agent.destroy(),
  }
}

function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES)
}
