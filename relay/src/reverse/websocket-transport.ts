// A WebSocket of the relay as a transport for yamux, with back-pressure on sending.

import type { Transport } from '@svc/yamux'
import type { WebSocket } from 'ws'
import { CARRIER_CLOSE_DEADLINE_MS, WEBSOCKET_BUFFERED_MAX_BYTES } from '../limits.ts'

export function webSocketTransport(socket: WebSocket): Transport {
  return {
    send: (bytes) => {
      if (socket.readyState !== socket.OPEN) return
      if (socket.bufferedAmount < WEBSOCKET_BUFFERED_MAX_BYTES) return socket.send(bytes)
      return new Promise((resolve) => socket.send(bytes, () => resolve()))
    },
    close: () => {
      socket.close()
      setTimeout(() => socket.terminate(), CARRIER_CLOSE_DEADLINE_MS).unref()
    },
  }
}
