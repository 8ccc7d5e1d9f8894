// Sends one request to a peer's overlay server, on a connection of its own.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { request } from '@svc/node-kit/http-module'
import { boundInterimResponses } from '../../../core/outbound/interim-responses.ts'
import { GATEWAY_ANSWER_MAX_BYTES } from '../limits.ts'
import type { OverlayNetwork, OverlayPeer } from '../overlay-network.ts'

interface Question {
  path: string
  headers?: Record<string, string>
}

export type PeerAnswer =
  | { status: number; headers: IncomingHttpHeaders; text: string; socket?: undefined }
  /** An upgrade: the connection is the caller's, which has to listen to its errors. */
  | { status: 101; headers: IncomingHttpHeaders; socket: Socket; head: Buffer }

/** @throws Error of the connection, of an answer that is too long, or the signal's reason */
export async function askPeer(
  network: OverlayNetwork,
  peer: OverlayPeer,
  { path, headers = {} }: Question,
  signal: AbortSignal,
): Promise<PeerAnswer> {
  const socket = await network.connect(peer, signal)
  socket.on('error', () => {})
  try {
    return await new Promise<PeerAnswer>((resolve, reject) => {
      const cancel = (): void => void socket.destroy(signal.reason)
      const settle =
        <T>(done: (value: T) => void) =>
        (value: T) => {
          signal.removeEventListener('abort', cancel)
          done(value)
        }
      if (signal.aborted) return reject(signal.reason)
      signal.addEventListener('abort', cancel, { once: true })
      const fail = settle(reject)
      const asked = request({
        createConnection: () => socket,
        path,
        headers: { Host: hostOf(peer), Connection: 'close', ...headers },
      })
      boundInterimResponses(asked)
      asked.on('error', fail)
      asked.on('upgrade', ({ headers }, _socket, head) =>
        settle(resolve)({ status: 101, headers, socket, head }),
      )
      asked.on('response', (response) => void answerOf(response).then(settle(resolve), fail))
      asked.end()
    })
  } catch (error) {
    socket.destroy()
    throw error
  }
}

function hostOf({ overlayAddress, port }: OverlayPeer): string {
  return overlayAddress.includes(':') ? `[${overlayAddress}]:${port}` : `${overlayAddress}:${port}`
}

async function answerOf(response: IncomingMessage): Promise<PeerAnswer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    size += chunk.length
    // Leaving the loop ends the connection.
    if (size > GATEWAY_ANSWER_MAX_BYTES) throw new Error('the peer answers at great length')
    chunks.push(chunk)
  }
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: Buffer.concat(chunks).toString(),
  }
}
