// A relay for one site, just enough of one to attack the SDK with: HTTPS control plane, WebSocket, keyless signer.

import { createHash, randomBytes, sign } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type Duplex, duplexPair, PassThrough } from 'node:stream'
import { type TLSSocket, connect as tlsConnect } from 'node:tls'
import { type Routing, registrationPurpose, type SignRequest, siweMessage } from '@svc/protocol'
import { Session, type Stream } from '@svc/yamux'
import { Agent, fetch as undiciFetch } from 'undici'
import { type WebSocket, WebSocketServer } from 'ws'
import type { FetchInit } from '../../src/control/relay-client.ts'
import type { Platform } from '../../src/platform.ts'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from './certificate.ts'
import { readBytes } from './memory.ts'

export type Answer = [status: number, body: object, headers?: Record<string, string>]

export class RelayDouble {
  /** Path → replaces the usual answer. */
  overrides: Record<string, ((body: Record<string, unknown>) => Answer) | undefined> = {}
  /** Path → answers a request by itself. */
  raw: Record<string, ((request: IncomingMessage, response: ServerResponse) => Promise<void>) | undefined> =
    {}
  calls: string[] = []
  ready: Stream[] = []
  sockets: WebSocket[] = []
  ttlS = 120
  /** More of the registration, and of what each grant says. */
  fields: object = {}
  /** Takes no more sessions. */
  isFull = false
  /** What it says of the lease, when it says it. */
  routing: Routing | undefined
  #server: Server
  #webSockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'svc.reverse.v1' })
  #serial = 0

  static async start(): Promise<RelayDouble> {
    const relay = new RelayDouble()
    await relay.listen(0)
    return relay
  }

  constructor() {
    this.#server = createServer(
      { cert: CERTIFICATE_PEM, key: PRIVATE_KEY_PEM },
      async (request, response) => {
        const path = request.url!
        this.calls.push(path)
        const served = this.raw[path]
        if (served) return served(request, response)
        let text = ''
        for await (const chunk of request) text += chunk
        const asked = text && JSON.parse(text)
        const [status, body, headers] = this.overrides[path]?.(asked) ?? this.#answer(path, asked)
        response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
      },
    )
    this.#server.on('upgrade', (request, socket: Duplex, head) => {
      this.#webSockets.handleUpgrade(request, socket, head, (ws) => this.#carry(ws))
    })
  }

  /** The port, which the double keeps after it has gone away. */
  port = 0

  async listen(port: number): Promise<void> {
    await once(this.#server.listen(port, '127.0.0.1'), 'listening')
    this.port = (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `https://relay.localhost:${this.port}`
  }

  count(path: string): number {
    return this.calls.filter((call) => call === path).length
  }

  /** Goes away without a word; `listen` brings it back. */
  crash(): Promise<void> {
    for (const ws of this.sockets.splice(0)) ws.terminate()
    this.ready = []
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }

  /** Closes the carriers as the real one does when a lease ends. */
  endLease(code: number): void {
    this.ready = []
    for (const ws of this.sockets.splice(0)) ws.close(code)
  }

  /** Passes a visitor's TLS on to the site, through a stream that is claimed for it. */
  async bridge(visitor: Duplex): Promise<void> {
    while (this.ready.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    const stream = this.ready.shift()!
    await stream.write(Uint8Array.of(0x02, ...randomBytes(16)))
    pump(stream, visitor)
  }

  /** What a visitor gets: a TLS connection that trusts the relay's certificate only. */
  async visit(servername: string): Promise<TLSSocket> {
    const [visitor, bridged] = duplexPair()
    await this.bridge(bridged)
    const socket = tlsConnect({
      socket: visitor,
      servername,
      ca: CERTIFICATE_PEM,
      ciphers: 'TLS_AES_128_GCM_SHA256',
    })
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
    return socket
  }

  #carry(ws: WebSocket): void {
    this.sockets.push(ws)
    const session = new Session(
      { send: (bytes) => ws.send(bytes), close: () => ws.close() },
      { role: 'server', onStream: (stream) => this.#admit(stream) },
    )
    ws.on('message', (data) => session.receive(new Uint8Array(data as Buffer)))
    ws.on('close', () => session.transportClosed())
  }

  async #admit(stream: Stream): Promise<void> {
    await readBytes(stream, 2 + 'capability.1'.length)
    if (this.isFull) {
      await stream.write(Uint8Array.of(0x01))
      return await stream.end()
    }
    await stream.write(Uint8Array.of(0x00, 0x00))
    this.ready.push(stream)
  }

  #answer(path: string, body: Record<string, unknown>): Answer {
    switch (path) {
      case '/sdk/domain':
        return data({ protocol_version: '10' })
      case '/sdk/register/challenge':
        return data({ challenge_id: 'rch_0123456789abcdef', siwe_message: this.#message(body) })
      case '/sdk/register':
        return data({ ...this.#names(String(body.siwe_message).split('\n')[1]!), ...this.#grant() })
      case '/sdk/renew':
        return data(this.#grant())
      case '/sdk/reverse':
        return data(this.#grant().reverse_endpoint)
      case '/sdk/unregister':
        return data({})
      case '/sdk/certificate-chain':
        return [200, CERTIFICATE_PEM as unknown as object]
      case '/v1/sign':
        return [200, signature(body as unknown as SignRequest)]
      default:
        return [404, {}]
    }
  }

  #message({ identity }: { identity?: { address: string } }): string {
    return siweMessage({
      ...registrationPurpose(`relay.localhost:${this.port}`),
      address: identity!.address,
      nonce: 'kEWepMt9knR6lWJ6A',
      issuedAt: new Date().toISOString(),
      expirationTime: new Date(Date.now() + 120_000).toISOString(),
      requestId: 'rch_0123456789abcdef',
    })
  }

  #names(address: string) {
    const canonical = `demo-${address.slice(2).toLowerCase()}.relay.localhost`
    return {
      identity: { name: 'demo', address },
      hostname: 'demo.relay.localhost',
      canonical_hostname: canonical,
    }
  }

  #grant() {
    this.#serial = (this.#serial % 9) + 1
    const expires_at = new Date(Date.now() + this.ttlS * 1000).toISOString()
    return {
      ...this.fields,
      expires_at,
      access_token: `access.${this.#serial}`,
      reverse_endpoint: {
        ...this.fields,
        url: `${this.url}/sdk/connect`,
        capability: `capability.${this.#serial}`,
        expires_at,
        overlay: false,
        routing: this.routing,
      },
    }
  }
}

/** A platform that finds and trusts the double. */
export function testPlatform(): Platform {
  const connect = {
    ca: CERTIFICATE_PEM,
    lookup: (
      _: string,
      options: { all?: boolean },
      done: (error: null, ...found: unknown[]) => void,
    ): void => (options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4)),
  }
  const dispatcher = new Agent({ connect: connect as object })
  return {
    fetch: async (url, init) =>
      undiciFetch(url, { ...(await withEncodedForm(init)), dispatcher }) as unknown as Promise<Response>,
    webSocketOptions: connect,
    loadIdentity: async () => new Uint8Array(32).fill(1),
  }
}

/** The `fetch` of a package does not know the runtime's FormData. */
async function withEncodedForm(init: FetchInit): Promise<object> {
  if (!(init.body instanceof FormData)) return init
  const form = new Response(init.body)
  const headers = { ...init.headers, 'Content-Type': form.headers.get('Content-Type')! }
  return { ...init, headers, body: new Uint8Array(await form.arrayBuffer()) }
}

export function failing(status: number, code: string, headers = {}): () => Answer {
  return () => [status, { ok: false, error: { code, message: 'told to' } }, headers]
}

function data(value: object): Answer {
  return [200, { ok: true, data: value }]
}

/** RFC 8446 §4.4.3, for a handshake without HelloRetryRequest under SHA-256. */
function signature(request: SignRequest): object {
  const messages = [
    request.client_hello,
    request.server_hello,
    request.encrypted_extensions,
    request.certificate,
  ]
  const hash = createHash('sha256')
  for (const message of messages) hash.update(Buffer.from(message, 'base64'))
  const context = `${' '.repeat(64)}TLS 1.3, server CertificateVerify\0`
  const signed = sign('sha256', Buffer.concat([Buffer.from(context), hash.digest()]), PRIVATE_KEY_PEM)
  return { key_id: 'relay-cert', algorithm: request.algorithm, signature: signed.toString('base64') }
}

/** The relay's bridge: raw bytes both ways, ends included. */
async function pump(stream: Stream, socket: Duplex): Promise<void> {
  socket.on('error', () => stream.abort())
  socket.on('close', () => stream.abort())
  const up = (async () => {
    for await (const chunk of socket.pipe(new PassThrough())) await stream.write(chunk)
    await stream.end()
  })()
  const down = (async () => {
    for (let bytes = await stream.read(); bytes; bytes = await stream.read())
      if (!socket.write(bytes)) await new Promise((resolve) => socket.once('drain', resolve))
    socket.end()
  })()
  await Promise.all([up, down]).catch(() => socket.destroy())
}
