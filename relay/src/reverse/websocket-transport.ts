// Adapts a WebSocket of the relay to a transport for yamux, with back-pressure on sending.

import type { MemoryMeter, Transport } from '@svc/yamux'
import type { WebSocket } from 'ws'
import { CARRIER_CLOSE_DEADLINE_MS, WEBSOCKET_BUFFERED_MAX_BYTES } from '../limits.ts'

/** @param memory counts the bytes that the kernel has not taken */
export function webSocketTransport(socket: WebSocket, memory: MemoryMeter): Transport {
  return {
    send: (bytes) => {
      if (socket.readyState !== socket.OPEN) return
      const isFull = socket.bufferedAmount >= WEBSOCKET_BUFFERED_MAX_BYTES
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
