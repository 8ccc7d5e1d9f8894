// Reads the ClientHello of a new public connection, however it is fragmented, and keeps every byte for replay.

import type { Socket } from 'node:net'
import { CLIENT_HELLO_DEADLINE_MS, CLIENT_HELLO_MAX_BYTES } from '@svc/protocol'
import { ACME_TLS_ALPN } from '@svc/protocol/acme'
import { ALERT, alertRecord, ClientHelloReader, DecodeError, parseClientHello } from '@svc/tls/messages'

export interface PeekedHello {
  /** The whole handshake message, which the visitor's binding pins. */
  message: Uint8Array
  serverName: string | undefined
  /** Whether the client is an ACME authority that validates a name (RFC 8737 §3): it offers `acme-tls/1` and nothing else. */
  isAcmeChallenge: boolean
  /** All bytes read so far, for replay. */
  received: Buffer
}

/**
 * Reads the ClientHello and pauses the socket.
 * @param deadline by which the ClientHello must be complete, in milliseconds of the monotonic clock; it must also be
 *   complete {@link CLIENT_HELLO_DEADLINE_MS} after its first byte
 * @returns undefined when no ClientHello came; the socket is then closed, with an alert if the client spoke TLS
 */
export function peekClientHello(socket: Socket, deadline: number): Promise<PeekedHello | undefined> {
  const reader = new ClientHelloReader({ maxBytes: CLIENT_HELLO_MAX_BYTES })
  const received: Buffer[] = []
  return new Promise((resolve) => {
    const settle = (hello: PeekedHello | undefined) => {
      clearTimeout(timer)
      socket.off('data', onData)
      socket.off('end', giveUp)
      socket.off('close', giveUp)
      socket.pause()
      resolve(hello)
    }
    const giveUp = () => {
      socket.destroy()
      settle(undefined)
    }
    const onData = (bytes: Buffer) => {
      if (received.length === 0) {
        clearTimeout(timer)
        timer = setTimeout(giveUp, Math.min(CLIENT_HELLO_DEADLINE_MS, deadline - performance.now()))
      }
      received.push(bytes)
      try {
        const message = reader.push(bytes)
        if (message === undefined) return
        const { serverName, alpn } = parseClientHello(message)
        const isAcmeChallenge = alpn[0] === ACME_TLS_ALPN && alpn.length === 1
        settle({ message, serverName, isAcmeChallenge, received: Buffer.concat(received) })
      } catch (error) {
        refuse(socket, error)
        settle(undefined)
      }
    }
    let timer = setTimeout(giveUp, deadline - performance.now())
    socket.on('data', onData)
    socket.on('end', giveUp)
    socket.on('close', giveUp)
  })
}

function refuse(socket: Socket, error: unknown): void {
  // A client that does not speak TLS gets no alert: it could not read one.
  const alert = error instanceof DecodeError ? error.alert : ALERT.internal_error
  socket.end(alertRecord(alert))
  socket.destroySoon()
}
