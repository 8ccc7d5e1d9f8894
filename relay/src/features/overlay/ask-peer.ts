// Sends requests to a peer's overlay server, each on its own connection: the peer answers, or the connection becomes
// another protocol.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { hostPort } from '@svc/node-kit/host-port'
import { request as send } from '@svc/node-kit/http-module'
import { ERROR_STATUS, type ErrorCode } from '@svc/protocol'
import { RelayError } from '../../core/errors.ts'
import { boundInterimResponses } from '../../core/outbound/interim-responses.ts'
import { PEER_ANSWER_DEADLINE_MS, PEER_ANSWER_MAX_BYTES } from './limits.ts'
import type { OverlayNetwork, OverlayPeer } from './overlay-network.ts'

interface PeerRequest {
  /** @default 'GET' */
  method?: string
  path: string
  headers?: Record<string, string>
  /** Sent as JSON. */
  body?: object
}

/** An upgraded connection, which the caller owns. */
export interface PeerUpgrade {
  status: 101
  headers: IncomingHttpHeaders
  socket: Socket
  /** Bytes that came after the head. */
  head: Buffer
}

type PeerAnswer =
  | { status: number; headers: IncomingHttpHeaders; text: string; socket?: undefined }
  | PeerUpgrade

/** @throws Error of the connection, or for an answer that is too long; the signal's reason */
export async function askPeer(
  network: OverlayNetwork,
  peer: OverlayPeer,
  { method, path, headers = {}, body }: PeerRequest,
  signal: AbortSignal,
): Promise<PeerAnswer> {
  const socket = await network.connect(peer, signal)
  socket.on('error', () => {})
  socket.allowHalfOpen = true
  const cancel = (): void => void socket.destroy(signal.reason)
  signal.addEventListener('abort', cancel, { once: true })
  let upgrade: PeerUpgrade | undefined
  try {
    signal.throwIfAborted()
    const json = body && JSON.stringify(body)
    const asked = send({
      createConnection: () => socket,
      ...(method !== undefined && { method }),
      path,
      headers: {
        Host: hostPort(peer.overlayAddress, peer.port),
        Connection: 'close',
        ...(json !== undefined && {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(json),
        }),
        ...headers,
      },
    })
    boundInterimResponses(asked)
    const response = await new Promise<IncomingMessage | PeerUpgrade>((resolve, reject) => {
      asked.on('error', reject)
      asked.on('response', resolve)
      asked.on('upgrade', ({ headers }, _socket, head) => resolve({ status: 101, headers, socket, head }))
      asked.end(json)
    })
    if ('status' in response) upgrade = response
    return 'status' in response ? response : await answerOf(response)
  } finally {
    signal.removeEventListener('abort', cancel)
    if (upgrade === undefined) socket.destroy()
  }
}

/**
 * Sends JSON to a peer.
 * @param deadlineMs time for the whole answer
 * @throws RelayError the peer's refusal, or `feature_unavailable` when it does not answer
 */
export async function sendToPeer(
  network: OverlayNetwork,
  peer: OverlayPeer,
  request: PeerRequest & { body: object },
  deadlineMs: number = PEER_ANSWER_DEADLINE_MS,
): Promise<void> {
  const signal = AbortSignal.timeout(deadlineMs)
  const answer = await askPeer(network, peer, request, signal).catch(() => undefined)
  answer?.socket?.destroy()
  if (answer?.status !== 200) throw refusalOf(peer, answer)
}

/**
 * Resolves with a connection that the peer has upgraded, paused, from which nothing has been read. Each half ends by itself.
 * @param deadlineMs time for the peer to accept the upgrade
 * @throws RelayError the peer's refusal, or `feature_unavailable` when it does not answer
 */
export async function upgradeAtPeer(
  network: OverlayNetwork,
  peer: OverlayPeer,
  { path, upgrade, headers = {} }: { path: string; upgrade: string; headers?: Record<string, string> },
  gone: AbortSignal,
  deadlineMs: number = PEER_ANSWER_DEADLINE_MS,
): Promise<Socket> {
  const signal = AbortSignal.any([gone, AbortSignal.timeout(deadlineMs)])
  const request = { path, headers: { ...headers, Connection: 'Upgrade', Upgrade: upgrade } }
  const answer = await askPeer(network, peer, request, signal).catch(() => undefined)
  if (answer?.socket === undefined) throw refusalOf(peer, answer)
  const { socket, head } = answer
  if (answer.headers.upgrade !== upgrade) {
    socket.destroy()
    throw refusalOf(peer, undefined)
  }
  socket.pause()
  if (head.length > 0) socket.unshift(head)
  return socket
}

/**
 * The error in an answer, in the envelope of the API. Its code is undefined when the answer does not follow the API.
 */
export function errorIn(text: string): { code: ErrorCode | undefined; message: string } {
  try {
    const { code, message } = JSON.parse(text).error
    return { code: Object.hasOwn(ERROR_STATUS, code) ? code : undefined, message: String(message) }
  } catch {
    return { code: undefined, message: '' }
  }
}

/** The peer's own refusal, if its answer follows the API. */
function refusalOf({ origin }: OverlayPeer, answer: PeerAnswer | undefined): RelayError {
  const { code, message } = errorIn(answer?.socket === undefined ? (answer?.text ?? '') : '')
  if (code === undefined)
    return new RelayError('feature_unavailable', `${origin} does not answer on the overlay`)
  const retryAfter = answer?.headers['retry-after']
  const headers = retryAfter === undefined ? {} : { 'Retry-After': retryAfter }
  return new RelayError(code, `${origin}: ${message}`, headers)
}

async function answerOf(response: IncomingMessage): Promise<PeerAnswer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    size += chunk.length
    // Leaving the loop ends the connection.
    if (size > PEER_ANSWER_MAX_BYTES) throw new Error('the answer of the peer is too long')
    chunks.push(chunk)
  }
  const { statusCode: status = 0, headers } = response
  return { status, headers, text: Buffer.concat(chunks).toString() }
}
