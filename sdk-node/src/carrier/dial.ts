// One native connection: `GET /sdk/connect` over HTTP/1.1 and TLS, which after the 101 is one reverse session or carries many.

import type { IncomingMessage } from 'node:http'
import { isIP, connect as open, type Socket, type TcpNetConnectOpts } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect, type TLSSocket } from 'node:tls'
import { request } from '@svc/node-kit/http-module'
import { resetSocket } from '@svc/node-kit/sockets'
import { HEADER, type RAW_UPGRADE, type YAMUX_UPGRADE } from '@svc/protocol'
import { asSvcError, failureOf, parseRetryAfter, SvcError } from '@svc/sdk-core'
import { ADDRESS_DEADLINE_MS, DIAL_DEADLINE_MS } from '../net/deadlines.ts'
import { openThrough, type RelayConnectOptions, type Tunnel } from '../net/forward-proxy.ts'

/** The longest body with which a relay may refuse a session, in bytes: far more than an error envelope. */
const REFUSAL_MAX_BYTES = 16 * 1024

/** The protocol after the upgrade: one reverse session, or many over yamux. */
export type Upgrade = typeof RAW_UPGRADE | typeof YAMUX_UPGRADE

export interface DialTarget {
  /** The relay's endpoint of reverse sessions. */
  url: URL
  upgrade: Upgrade
  capability: string
  /** Options of the TLS connection: a CA, a DNS lookup, a proxy, a TLS session to resume. */
  tls: RelayConnectOptions
  /** Called with a TLS session for the next connection, perhaps before the relay has answered the request. */
  keepSession(session: Buffer): void
}

export interface Dialed {
  socket: TLSSocket
  /**
   * Resets the TCP connection, so that the relay does not mistake this for a normal end.
   * @param inner a visitor's TLS connection inside this one, which ends with it
   */
  reset(inner?: Duplex): void
  /** The time from the request to its answer, in milliseconds. */
  rttMs: number
}

/** @throws SvcError the relay's own code when it refused, or `relay_unreachable` or `unexpected_answer` */
export async function dial(target: DialTarget, signal: AbortSignal): Promise<Dialed> {
  const proxy = target.tls.proxyFor?.(target.url)
  const tunnel = proxy && (await openThrough(proxy, target.url, signal))
  const { raw, socket } = connectTo(target, tunnel)
  const giveUp = (): void => void socket.destroy(new Error('no answer in time'))
  const deadline = setTimeout(giveUp, DIAL_DEADLINE_MS)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    return { socket, reset: (inner = socket) => resetSocket(raw, inner), rttMs: await ask(socket, target) }
  } catch (error) {
    socket.destroy()
    throw asSvcError(error, 'relay_unreachable', `no reverse session at ${target.url.host}`)
  } finally {
    clearTimeout(deadline)
    signal.removeEventListener('abort', giveUp)
  }
}

function connectTo(
  { url, tls, keepSession }: DialTarget,
  tunnel: Tunnel | undefined,
): { raw: Socket; socket: TLSSocket } {
  // A URL puts an IPv6 address in brackets, and an address is not a server name (RFC 6066 §3).
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const { lookup, proxyFor: _way, ...options } = tls
  // Visitors may half-close.
  const halfOpen = { allowHalfOpen: true }
  const address: TcpNetConnectOpts = {
    ...halfOpen,
    host,
    port: Number(url.port || 443),
    noDelay: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_DEADLINE_MS,
  }
  const raw = tunnel?.raw ?? open({ ...address, ...(lookup && { lookup }) })
  const socket = connect({
    ...options,
    ...halfOpen,
    socket: tunnel?.socket ?? raw,
    ...(isIP(host) === 0 && { servername: host }),
    ALPNProtocols: ['http/1.1'],
  })
  socket.on('session', keepSession)
  // The TLS socket gets the same error and has a listener.
  raw.on('error', () => {})
  return { raw, socket }
}

/** @returns the round trip in milliseconds */
function ask(socket: TLSSocket, { url, upgrade, capability }: DialTarget): Promise<number> {
  return new Promise((resolve, reject) => {
    let askedAt = 0
    socket.once('secureConnect', () => {
      askedAt = performance.now()
    })
    const asked = request({
      createConnection: () => socket,
      path: url.pathname + url.search,
      headers: {
        Host: url.host,
        Connection: 'Upgrade',
        Upgrade: upgrade,
        [HEADER.reverseCapability]: capability,
      },
    })
    asked.on('error', reject)
    asked.on('upgrade', ({ headers }, _socket, head) => {
      if (headers.upgrade?.toLowerCase() !== upgrade)
        return reject(new SvcError('unexpected_answer', `${url.pathname} switched to another protocol`))
      if (head.length > 0) socket.unshift(head)
      resolve(performance.now() - askedAt)
    })
    asked.on('response', (answer) => refusalOf(url.pathname, answer).then(reject, reject))
    asked.end()
  })
}

/** Reads the answer of a relay that refuses an upgrade. */
export async function refusalOf(path: string, answer: IncomingMessage): Promise<SvcError> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer) {
    size += chunk.length
    if (size > REFUSAL_MAX_BYTES)
      throw new SvcError('unexpected_answer', `${path} refused with a body that is too long`)
    chunks.push(chunk)
  }
  return failureOf(path, {
    status: answer.statusCode ?? 0,
    ok: false,
    text: Buffer.concat(chunks).toString(),
    retryAfterMs: parseRetryAfter(answer.headers['retry-after'] ?? null),
  })
}
