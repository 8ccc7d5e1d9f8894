// A browser's WebSocket as the connection of a carrier, with back-pressure on sending.

import type { Duplex } from 'node:stream'
import type { MemoryMeter, Transport } from '@svc/yamux'
import type { WebSocket } from 'ws'
import { CARRIER_BUFFERED_MAX_BYTES, CARRIER_CLOSE_DEADLINE_MS, type CarrierConnection } from './carrier.ts'
import { meterMessages } from './message-meter.ts'

/** @param tls the connection under the WebSocket */
export function webSocketConnection(socket: WebSocket, tls: Duplex): CarrierConnection {
  return {
    sharesInput: false,
    get backlog() {
      return socket.bufferedAmount
    },
    open: (memory, { received, closed }) => {
      meterMessages(socket, tls, memory)
      socket.on('message', (data) => received(data as Buffer))
      socket.on('error', () => socket.terminate())
      socket.on('close', closed)
      return webSocketTransport(socket, memory)
    },
    close: (_session, code, reason) => {
      socket.close(code, reason)
      setTimeout(() => socket.terminate(), CARRIER_CLOSE_DEADLINE_MS).unref()
    },
    terminate: () => socket.terminate(),
  }
}

/** @param memory counts the bytes that the kernel has not taken */
export function webSocketTransport(socket: WebSocket, memory: MemoryMeter): Transport {
  return {
    send: (bytes) => {
      if (socket.readyState !== socket.OPEN) return
      const isFull = socket.bufferedAmount >= CARRIER_BUFFERED_MAX_BYTES
      memory.hold(bytes.length)
      const sent = () => memory.hold(-bytes.length)
      if (!isFull) return socket.send(bytes, sent)
      return new Promise<void>((resolve) => socket.send(bytes, () => resolve(sent())))
    },
    close: () => {
      socket.close()
      setTimeout(() => socket.terminate(), CARRIER_CLOSE_DEADLINE_MS).unref()
    },
  }
}
