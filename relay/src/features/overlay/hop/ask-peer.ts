// Requests to a peer's overlay server: one that has an answer, or one whose connection becomes another protocol.

import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { request as send } from '@svc/node-kit/http-module'
import { ERROR_STATUS, type ErrorCode, type HopRouteMethod } from '@svc/protocol'
import { RelayError } from '../../../core/errors.ts'
import { boundInterimResponses } from '../../../core/outbound/interim-responses.ts'
import type { OverlayNetwork, OverlayPeer } from '../overlay-network.ts'
import { HOP_ANSWER_DEADLINE_MS, HOP_ANSWER_MAX_BYTES } from './limits.ts'

interface Asked {
  method: HopRouteMethod | 'GET'
  path: string
  headers?: Record<string, string>
}

/**
 * Sends JSON to a peer.
 * @throws RelayError the peer's refusal, or `feature_unavailable` when it does not answer
 */
export async function sendToPeer(
  network: OverlayNetwork,
  peer: OverlayPeer,
  { body, ...asked }: Asked & { body: object },
): Promise<void> {
  const signal = AbortSignal.timeout(HOP_ANSWER_DEADLINE_MS)
  const json = JSON.stringify(body)
  const headers = { 'Content-Type': 'application/json', 'Content-Length': `${Buffer.byteLength(json)}` }
  const socket = await connectTo(network, peer, signal)
  try {
    const answer = await answered(ask(socket, peer, { ...asked, headers }, signal).end(json))
    if (answer.statusCode !== 200) throw await refusalOf(peer, answer)
  } catch (error) {
    throw error instanceof RelayError ? error : unreachable(peer)
  } finally {
    socket.destroy()
  }
}

/**
 * Resolves with a connection that the peer has upgraded, paused, from which nothing has been read. Each half ends by itself.
 * @throws RelayError the peer's refusal, or `feature_unavailable` when it does not answer
 */
export async function upgradeAtPeer(
  network: OverlayNetwork,
  peer: OverlayPeer,
  { path, upgrade, headers = {} }: { path: string; upgrade: string; headers?: Record<string, string> },
  gone: AbortSignal,
): Promise<Socket> {
  const signal = AbortSignal.any([gone, AbortSignal.timeout(HOP_ANSWER_DEADLINE_MS)])
  const socket = await connectTo(network, peer, signal)
  try {
    const fields = { ...headers, Connection: 'Upgrade', Upgrade: upgrade }
    const asked = ask(socket, peer, { method: 'GET', path, headers: fields }, signal)
    const upgraded = new Promise<Buffer>((resolve, reject) => {
      asked.on('upgrade', (answer: IncomingMessage, _socket, head: Buffer) => {
        if (answer.headers.upgrade === upgrade) resolve(head)
        else reject(unreachable(peer))
      })
      answered(asked.end())
        .then((answer) => refusalOf(peer, answer))
        .then(reject, reject)
    })
    const head = await upgraded
    socket.pause()
    if (head.length > 0) socket.unshift(head)
    return socket
  } catch (error) {
    socket.destroy()
    throw error instanceof RelayError ? error : unreachable(peer)
  }
}

async function connectTo(network: OverlayNetwork, peer: OverlayPeer, signal: AbortSignal): Promise<Socket> {
  try {
    const socket = await network.connect(peer, signal)
    socket.on('error', () => {})
    socket.allowHalfOpen = true
    return socket
  } catch {
    throw unreachable(peer)
  }
}

function ask(socket: Socket, peer: OverlayPeer, asked: Asked, signal: AbortSignal): ClientRequest {
  const { method, path, headers } = asked
  const Host = `${peer.overlayAddress.includes(':') ? `[${peer.overlayAddress}]` : peer.overlayAddress}:${peer.port}`
  const asking = send({ createConnection: () => socket, method, path, headers: { Host, ...headers }, signal })
  boundInterimResponses(asking)
  return asking
}

function answered(asked: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    asked.on('response', resolve)
    asked.on('error', reject)
  })
}

/** The peer's own words, when it speaks the contract. */
async function refusalOf(peer: OverlayPeer, answer: IncomingMessage): Promise<RelayError> {
  let text = ''
  for await (const chunk of answer.setEncoding('utf8')) {
    text += chunk
    if (text.length > HOP_ANSWER_MAX_BYTES) return unreachable(peer)
  }
  const { code, message } = errorIn(text)
  if (code === undefined) return unreachable(peer)
  const retryAfter = answer.headers['retry-after']
  const headers = retryAfter === undefined ? {} : { 'Retry-After': retryAfter }
  return new RelayError(code, `${peer.origin}: ${message}`, headers)
}

function errorIn(text: string): { code: ErrorCode | undefined; message: string } {
  try {
    const { code, message } = JSON.parse(text).error
    return { code: Object.hasOwn(ERROR_STATUS, code) ? code : undefined, message: String(message) }
  } catch {
    return { code: undefined, message: '' }
  }
}

function unreachable({ origin }: OverlayPeer): RelayError {
  return new RelayError('feature_unavailable', `${origin} does not answer on the overlay`)
}
