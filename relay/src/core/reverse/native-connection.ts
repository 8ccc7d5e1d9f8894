// A native client's TLS connection as the connection of a carrier: after the 101 it carries yamux without further
// framing.

import type { Duplex } from 'node:stream'
import { encryptsAtOnce } from '@svc/node-kit/sockets'
import { YAMUX_UPGRADE } from '@svc/protocol'
import type { MemoryMeter, Transport } from '@svc/yamux'
import type { SharedReadBuffer } from '../node-internals/shared-read-buffer.ts'
import { CARRIER_BUFFERED_MAX_BYTES, CARRIER_CLOSE_DEADLINE_MS, type CarrierConnection } from './carrier.ts'

const SWITCHING_PROTOCOLS = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${YAMUX_UPGRADE}\r\n\r\n`

/** @param readBuffer makes the connection cheaper to read; without it, Node allocates a buffer for each read */
export function nativeConnection(
  socket: Duplex,
  readBuffer: SharedReadBuffer | undefined,
): CarrierConnection {
  const connection = yamuxConnection(socket, readBuffer)
  return {
    sharesInput: connection.sharesInput,
    get backlog() {
      return socket.writableLength
    },
    open: (memory, events) => {
      socket.write(SWITCHING_PROTOCOLS)
      return connection.open(memory, events)
    },
    // It has no close code: the GoAway's code gives the reason, and the session's end closes the transport.
    close: (session, code) => session.close(code),
    terminate: () => socket.destroy(),
  }
}

/** A connection that carries yamux and nothing else: of a client, or of another machine of this relay. */
export function yamuxConnection(
  socket: Duplex,
  readBuffer: SharedReadBuffer | undefined,
): Pick<CarrierConnection, 'sharesInput' | 'open'> {
  const shared = readBuffer?.suits(socket) ? readBuffer : undefined
  return {
    sharesInput: shared !== undefined,
    open: (memory, { received, closed }) => {
      if (shared === undefined) socket.on('data', received)
      else readAll(socket, shared, received)
      // The session ends with either direction: a client has no reason to half-close.
      socket.on('end', () => socket.destroy())
      socket.on('error', () => socket.destroy())
      socket.on('close', closed)
      return nativeTransport(socket, memory)
    },
  }
}

function readAll(socket: Duplex, shared: SharedReadBuffer, received: (bytes: Buffer) => void): void {
  const take = (bytes: Buffer): boolean => {
    received(bytes)
    return true
  }
  socket.pause()
  shared.receive(socket, take, () => false)
  for (let buffered = socket.read(); buffered !== null; buffered = socket.read()) received(buffered)
  socket.resume()
}

/** @param memory counts the bytes that the kernel has not taken */
function nativeTransport(socket: Duplex, memory: MemoryMeter): Transport {
  return {
    get copies() {
      return encryptsAtOnce(socket)
    },
    send: (bytes) => {
      if (!socket.writable) return
      const isFull = socket.writableLength >= CARRIER_BUFFERED_MAX_BYTES
      memory.hold(bytes.length)
      const sent = () => memory.hold(-bytes.length)
      if (!isFull) return void socket.write(bytes, sent)
      return new Promise<void>((resolve) => socket.write(bytes, () => resolve(sent())))
    },
    close: () => {
      socket.end()
      setTimeout(() => socket.destroy(), CARRIER_CLOSE_DEADLINE_MS).unref()
    },
  }
}
