// Records the messages of a visitor's WebSocket, in both directions.

import type { FetchInfo } from '../exchange/fetch-handler.ts'
import { isBlob } from '../platform-objects.ts'
import type { VisitorSocket } from '../websocket/visitor-socket.ts'
import type { Recording } from './recording.ts'

/** Returns the handler's second argument, whose `upgrade` gives a socket that the recording follows. */
export function recordingUpgrade(info: FetchInfo, recording: Recording): FetchInfo {
  return {
    ...info,
    upgrade: (request, options) => {
      const upgraded = info.upgrade(request, options)
      recording.kind = 'websocket'
      follow(upgraded.socket, recording)
      return upgraded
    },
  }
}

function follow(socket: VisitorSocket, recording: Recording): void {
  socket.addEventListener('message', ({ data }) => record(recording, 'in', data))
  socket.addEventListener('close', ({ code, reason }) => {
    recording.message('in', 'close', `${code} ${reason}`.trim())
    recording.ended()
  })
  const send = socket.send.bind(socket)
  const close = socket.close.bind(socket)
  Object.defineProperties(socket, {
    send: {
      configurable: true,
      value: (data: Parameters<VisitorSocket['send']>[0]) => {
        send(data)
        record(recording, 'out', data)
      },
    },
    close: {
      configurable: true,
      value: (code?: number, reason?: string) => {
        if (socket.readyState === socket.OPEN)
          recording.message('out', 'close', `${code ?? ''} ${reason ?? ''}`.trim())
        close(code, reason)
      },
    },
  })
}

function record(
  recording: Recording,
  direction: 'in' | 'out',
  data: string | ArrayBuffer | ArrayBufferView | Blob,
): void {
  if (typeof data === 'string') recording.message(direction, 'text', data)
  // The content of a Blob would be known later than that of the messages after it.
  else if (isBlob(data)) recording.message(direction, 'binary', new Uint8Array(0), data.size)
  else recording.message(direction, 'binary', bytesOf(data))
}

function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data)
}
