// Reads all bridged sockets into one buffer of the process, instead of a new one for every read.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/**
 * Bytes that a bridge passes on in one direction in one turn of the event loop, so that other bridges get their turn.
 * The buffer that all bridged sockets share has this size, since one read brings no more.
 */
export const BRIDGE_TICK_MAX_BYTES: number = 256 * 1024
/**
 * One read of a socket whose identity has a bandwidth limit. Its connections share the limit in pieces of this size.
 */
export const LIMITED_READ_MAX_BYTES: number = 16 * 1024
/**
 * Time for the test at start, over a connection of the relay to itself, whether this Node supports the shared read
 * buffer.
 */
const READ_BUFFER_PROBE_DEADLINE_MS = 1_000

/**
 * Where Node keeps the `onread` option of `net.connect`. Accepted sockets have no such option, but use the same
 * mechanism: {@link SharedReadBuffer.find} tests it, and the relay does without it in a Node that has changed.
 */
interface OnRead {
  buffer: symbol
  next: symbol
  callback: symbol
}

interface Internals {
  [symbol: symbol]: unknown
  _handle?: { useUserBuffer?(buffer: Uint8Array): void } | null
}

export class SharedReadBuffer {
  readonly #onRead: OnRead
  readonly #whole: Buffer = Buffer.allocUnsafeSlow(BRIDGE_TICK_MAX_BYTES)
  readonly #little: Buffer = this.#whole.subarray(0, LIMITED_READ_MAX_BYTES)

  private constructor(onRead: OnRead) {
    this.#onRead = onRead
  }

  /** @returns undefined when this Node's sockets cannot be read this way */
  static async find(): Promise<SharedReadBuffer | undefined> {
    const onRead = findOnRead()
    if (onRead === undefined) return undefined
    const readBuffer = new SharedReadBuffer(onRead)
    return (await isSound(readBuffer)) ? readBuffer : undefined
  }

  /** Whether the stream is an open socket that can be read this way. */
  suits(stream: Duplex): boolean {
    return typeof internalsOf(stream)._handle?.useUserBuffer === 'function'
  }

  /**
   * From now on `socket` passes its bytes only to `take`, once it is resumed; its other events do not change. When
   * `take` returns false it pauses, except for what TLS has read already, until it is resumed. The next read of any
   * socket overwrites the bytes: `take` must use or copy them before it returns. Earlier bytes stay in the socket's own
   * buffer.
   * @param isLimited called before each read, which is short if it returns true
   */
  receive(socket: Duplex, take: (bytes: Buffer) => boolean, isLimited: () => boolean): void {
    const { buffer, next, callback } = this.#onRead
    const choose = () => (isLimited() ? this.#little : this.#whole)
    let current = choose()
    const internals = internalsOf(socket)
    internals[buffer] = current
    internals[next] = () => {
      current = choose()
      return current
    }
    internals[callback] = (length: number) => take(current.subarray(0, length))
    internals._handle?.useUserBuffer?.(current)
  }
}

function internalsOf(stream: Duplex): Internals {
  return stream as unknown as Internals
}

function findOnRead(): OnRead | undefined {
  const symbols = Object.getOwnPropertySymbols(new Socket().destroy())
  const find = (name: string) => symbols.find(({ description }) => description === name)
  const [buffer, next, callback] = [find('kBuffer'), find('kBufferGen'), find('kBufferCb')]
  return buffer && next && callback && { buffer, next, callback }
}

/** Whether an accepted socket delivers every byte and its end when it is read this way. */
async function isSound(readBuffer: SharedReadBuffer): Promise<boolean> {
  const sent = Buffer.from('every byte, and the end')
  const server = createServer({ pauseOnConnect: true }).on('error', () => {})
  const deadline = AbortSignal.timeout(READ_BUFFER_PROBE_DEADLINE_MS)
  const sockets: Socket[] = []
  try {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening', { signal: deadline })
    const { port } = server.address() as AddressInfo
    const client = connect({ port, host: '127.0.0.1' })
    sockets.push(client.on('error', () => {}))
    const [accepted] = (await once(server, 'connection', { signal: deadline })) as [Socket]
    sockets.push(accepted.on('error', () => {}))
    const received: Buffer[] = []
    readBuffer.receive(
      accepted,
      (bytes) => received.push(Buffer.from(bytes)) > 0,
      () => false,
    )
    const ended = once(accepted, 'end', { signal: deadline })
    client.end(sent)
    accepted.resume()
    await ended
    return Buffer.concat(received).equals(sent)
  } catch {
    return false
  } finally {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
}
