// Shared by the tests of exposing: a real relay, targets of every kind, and visitors that come by its ports.

import { createHash, type Hash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Server as HttpServer, IncomingMessage } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { type ExposeOptions, type Exposure, expose, type SvcError } from '../../src/index.ts'
import type { TestRelay } from './relay.ts'

/** Processes start and megabytes pass, on a machine that may have other work: for `vi.setConfig`. */
export const TEST_TIMEOUT_MS = 120_000

/** Ports of a relay, which are consecutive. */
export const TCP_PORTS = 100

/** @param min the first of {@link TCP_PORTS} that are free */
export const TCP_SETTINGS = (min: number) => ({
  TCP_ENABLED: 'true',
  MIN_PORT: String(min),
  MAX_PORT: String(min + TCP_PORTS - 1),
})

/** The QUIC handshake of a tunnel has five seconds, which a machine that has other work may miss. */
const TUNNEL_ATTEMPTS = 4

/** Exposes with an identity of its own for each test: names never collide. */
export function exposeAt(relay: TestRelay, options: Partial<ExposeOptions> = {}): Promise<Exposure> {
  const identity = Uint8Array.from(randomBytes(32))
  const name = `t${randomBytes(6).toString('hex')}`
  return withTunnel(() => expose({ relay: relay.origin, ca: relay.ca, name, identity, ...options }))
}

/** Publishes what needs a tunnel, again while only the tunnel is missing. */
export async function withTunnel<T>(publish: () => Promise<T>): Promise<T> {
  for (let attempt = 1; attempt < TUNNEL_ATTEMPTS; attempt += 1)
    try {
      return await publish()
    } catch (error) {
      if ((error as SvcError).code !== 'tunnel_unreachable') throw error
    }
  return await publish()
}

export async function listening(server: Server | HttpServer): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

export function tcpServer(serve: (socket: Socket) => void): Server {
  return createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    serve(socket)
  })
}

/** A visitor's request, on a connection of its own. */
export async function visit(
  relay: TestRelay,
  url: string,
  path = '/',
  options: RequestOptions & { body?: NodeJS.ReadableStream | string | Buffer } = {},
): Promise<IncomingMessage> {
  const { host, hostname } = new URL(url)
  const { body, headers, ...rest } = options
  const asked = request({
    host: '127.0.0.1',
    port: relay.port,
    servername: hostname,
    ca: relay.ca,
    agent: new Agent({ keepAlive: false }),
    path,
    headers: { Host: host, ...(headers as object) },
    ...rest,
  })
  const answered = once(asked, 'response')
  if (body !== undefined && typeof body === 'object' && 'pipe' in body) body.pipe(asked)
  else asked.end(body)
  const [response] = await answered
  // an error from here on shows in the response
  asked.on('error', () => {})
  return response
}

export async function text(response: IncomingMessage): Promise<string> {
  return Buffer.concat(await response.toArray()).toString()
}

export async function sha256Of(stream: AsyncIterable<Buffer>): Promise<{ bytes: number; sha256: string }> {
  const hash: Hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    hash.update(chunk)
  }
  return { bytes, sha256: hash.digest('hex') }
}
