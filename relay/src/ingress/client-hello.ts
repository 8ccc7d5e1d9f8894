// Peeks the ClientHello of a new public connection, however it is cut, and keeps every byte for replay.

import type { Socket } from 'node:net'
import { CLIENT_HELLO_DEADLINE_MS, CLIENT_HELLO_MAX_BYTES } from '@svc/protocol'
import { ALERT, alertRecord, ClientHelloReader, DecodeError, parseClientHello } from '@svc/tls/messages'

export interface PeekedHello {
  /** The whole handshake message, as it is pinned for the signer. */
  message: Uint8Array
  serverName: string | undefined
  /** All bytes that were read so far, to be replayed. */
  received: Buffer
}

/**
 * @param until when the ClientHello has to be whole, in milliseconds of the monotonic clock; it also has to be whole 2 s
 *   after its first byte
 * @returns undefined when none came: the socket is closed then, with an alert when it spoke TLS
 */
export function peekClientHello(socket: Socket, until: number): Promise<PeekedHello | undefined> {
  const reader = new ClientHelloReader({ maxBytes: CLIENT_HELLO_MAX_BYTES })
  const received: Buffer[] = []
  return new Promise((resolve) => {
    const settle = (hello: PeekedHello | undefined) => {
      clearTimeout(deadline)
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
        clearTimeout(deadline)
        deadline = setTimeout(giveUp, Math.min(CLIENT_HELLO_DEADLINE_MS, until - performance.now()))
      }
      received.push(bytes)
      try {
        const message = reader.push(bytes)
        if (message === undefined) return
        const { serverName } = parseClientHello(message)
        settle({ message, serverName, received: Buffer.concat(received) })
      } catch (error) {
        refuse(socket, error)
        settle(undefined)
      }
    }
    let deadline = setTimeout(giveUp, until - performance.now())
    socket.on('data', onData)
    socket.on('end', giveUp)
    socket.on('close', giveUp)
  })
}

function refuse(socket: Socket, error: unknown): void {
  // What does not even begin as a TLS record gets no alert: its sender could not read one.
  const alert = error instanceof DecodeError ? error.alert : ALERT.internal_error
  socket.end(alertRecord(alert))
  socket.destroySoon()
}
