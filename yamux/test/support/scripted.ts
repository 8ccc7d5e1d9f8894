// A session whose peer is the test: it feeds literal frames and sees the frames that come back.

import { Session, type SessionOptions, type Stream } from '../../src/index.ts'

const HEADER_BYTES = 12

/** Bytes from hexadecimal digits; spaces are for the reader. */
export function hex(digits: string): Uint8Array {
  return Uint8Array.from(Buffer.from(digits.replaceAll(/\s/g, ''), 'hex'))
}

/** The text of a header as the tests write it: `00 type flags id length`. */
function text(bytes: Uint8Array): string {
  const digits = Buffer.from(bytes).toString('hex')
  return [2, 4, 8, 16, 24].map((end, i) => digits.slice([0, 2, 4, 8, 16][i], end)).join(' ')
}

export function scripted(options: Partial<SessionOptions> = {}) {
  const messages: Uint8Array[] = []
  const streams: Stream[] = []
  let closes = 0
  /** What `send` returns; a test sets it to a pending promise to saturate the transport. */
  const transport = {
    saturated: undefined as Promise<void> | undefined,
    send(message: Uint8Array) {
      messages.push(message)
      return transport.saturated
    },
    close: () => closes++,
  }
  const session = new Session(transport, {
    role: 'server',
    keepAliveIntervalMs: 0,
    openTimeoutMs: 0,
    closeTimeoutMs: 0,
    onStream: (stream) => streams.push(stream),
    ...options,
  })

  return {
    session,
    streams,
    transport,
    messages,
    get closes() {
      return closes
    },
    /** Feeds frames, each a hexadecimal literal, and lets the session answer. */
    async feed(...frames: (string | Uint8Array)[]) {
      for (const frame of frames) session.receive(typeof frame === 'string' ? hex(frame) : frame)
      await turn()
    },
    /** All headers sent since the last call. */
    async sent(): Promise<string[]> {
      await turn()
      return messages.splice(0).flatMap(headers)
    },
  }
}

/** The headers of a message of whole frames. */
export function headers(message: Uint8Array): string[] {
  const found: string[] = []
  for (let at = 0; at < message.length; ) {
    const header = message.subarray(at, at + HEADER_BYTES)
    found.push(text(header))
    at +=
      HEADER_BYTES +
      (header[1] === 0 ? new DataView(message.buffer, message.byteOffset + at).getUint32(8) : 0)
  }
  return found
}

/** Everything that this turn of the event loop started is done after it. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
