// A local TCP service as the target: raw bytes in both directions, with half-close.

import { connect, type Socket } from 'node:net'
import { resetSocket } from '@svc/node-kit/sockets'
import { encodeProxyHeader, encodeProxyLine } from '@svc/protocol/proxy-protocol'
import { type ByteStream, type ServeStream, SvcError, type Visitor } from '@svc/sdk-core'
import { ADDRESS_DEADLINE_MS, TARGET_CONNECT_DEADLINE_MS } from '../net/deadlines.ts'
import { SocketStream } from '../net/socket-stream.ts'
import type { TcpTarget } from './target-address.ts'

/** ProxyProtocol is the version of the PROXY protocol that a service gets. */
export type ProxyProtocol = 'v1' | 'v2'

/**
 * Serves each visitor with a connection to `target`. If the service refuses, the visitor is reset, the only way
 * to report an error in an arbitrary protocol.
 * @param onError called with the error of a service that cannot be reached
 * @param proxyProtocol the form in which the service gets the visitor's address first; undefined if it does not
 */
export function serveTcpTarget(
  target: TcpTarget,
  onError: (error: SvcError) => void,
  proxyProtocol: ProxyProtocol | undefined,
): ServeStream {
  return async (visitor, from) => {
    let service: SocketStream
    try {
      const socket = await open(target)
      service = new SocketStream(socket, resetSocket)
      if (proxyProtocol) await service.write(proxyHeader(proxyProtocol, from))
    } catch (cause) {
      visitor.abort(cause)
      onError(unreachable(target, cause))
      return
    }
    await Promise.all([copy(visitor, service), copy(service, visitor)])
  }
}

/** Without addresses, the header says that they are unknown. */
function proxyHeader(version: ProxyProtocol, from: Visitor | undefined): Uint8Array {
  const ends = from?.ends ?? { source: undefined, destination: undefined }
  return version === 'v1' ? Buffer.from(encodeProxyLine(ends)) : encodeProxyHeader(ends)
}

/** @param hint what the owner can do about it; default: the error's code */
export function unreachable({ host, port }: TcpTarget, cause: unknown, hint?: string): SvcError {
  return unanswered(`${host}:${port}`, cause, hint)
}

export function unanswered(address: string, cause: unknown, hint?: string): SvcError {
  const { code, message } = cause as NodeJS.ErrnoException
  return new SvcError('target_unreachable', `${address} does not answer: ${hint ?? code ?? message}`, {
    cause,
  })
}

function open({ host, port }: TcpTarget): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      allowHalfOpen: true,
      noDelay: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_DEADLINE_MS,
    })
    socket.setTimeout(TARGET_CONNECT_DEADLINE_MS, () => socket.destroy(new Error('no answer in time')))
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      socket.setTimeout(0)
      resolve(socket)
    })
  })
}

/** Copies one direction; if it breaks, it also ends the other. */
async function copy(from: ByteStream, to: ByteStream): Promise<void> {
  try {
    for (let bytes = await from.read(); bytes; bytes = await from.read()) await to.write(bytes)
    await to.end()
  } catch (error) {
    from.abort(error)
    to.abort(error)
  }
}
