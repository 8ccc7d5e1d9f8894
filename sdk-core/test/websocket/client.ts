// A visitor's WebSocket made by hand: literal frames to a server in memory, and the server's frames back.

import type { FetchInfo } from '../../src/exchange/fetch-handler.ts'
import type { UpgradeOptions } from '../../src/websocket/upgrade.ts'
import type { VisitorSocket } from '../../src/websocket/visitor-socket.ts'
import { Visitor } from '../http1/visitor.ts'

/** The example of RFC 6455 §1.2 and §1.3. */
export const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
export const HANDSHAKE: string = [
  'GET /chat HTTP/1.1',
  'Host: site.example',
  'Upgrade: websocket',
  'Connection: Upgrade',
  `Sec-WebSocket-Key: ${KEY}`,
  'Origin: http://example.com',
  'Sec-WebSocket-Protocol: chat, superchat',
  'Sec-WebSocket-Version: 13',
  '\r\n',
].join('\r\n')

/** The mask of the examples in RFC 6455 §5.7. */
const MASK = [0x37, 0xfa, 0x21, 0x3d]

export const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)
export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

interface Shape {
  fin?: boolean
  rsv?: number
  masked?: boolean
}

/** A frame of a client, in the shortest form of its length. */
export function frame(opcode: number, payload: Uint8Array | string = '', shape: Shape = {}): Uint8Array {
  const { fin = true, rsv = 0, masked = true } = shape
  const data = typeof payload === 'string' ? utf8(payload) : payload
  const { length } = data
  const extra = length > 0xffff ? 8 : length > 125 ? 2 : 0
  const head = new Uint8Array(2 + extra + (masked ? 4 : 0))
  const view = new DataView(head.buffer)
  head[0] = (fin ? 0x80 : 0) | (rsv << 4) | opcode
  head[1] = (masked ? 0x80 : 0) | (extra === 8 ? 127 : extra === 2 ? 126 : length)
  if (extra === 2) view.setUint16(2, length)
  if (extra === 8) view.setBigUint64(2, BigInt(length))
  if (masked) head.set(MASK, 2 + extra)
  return Buffer.concat([head, masked ? data.map((byte, i) => byte ^ MASK[i % 4]!) : data])
}

/** `rsv` of a frame whose message is compressed (RFC 7692 §6). */
export const COMPRESSED = 4

/** Asks for compression as Chromium does. */
export const DEFLATE_HANDSHAKE: string = HANDSHAKE.replace(
  /\r\n$/,
  'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n',
)

/** The payload of a Close frame. */
export const status = (code: number, reason = ''): Uint8Array =>
  Buffer.concat([bytes(code >> 8, code & 0xff), utf8(reason)])

export interface Frame {
  opcode: number
  compressed?: true
  payload: Buffer
}

/** Lets everything that does not wait for a timer happen. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export class Client {
  readonly visitor: Visitor
  /** What the handler got. */
  socket!: VisitorSocket
  readonly events: unknown[] = []
  #received: Buffer = Buffer.alloc(0)

  /** @param prepare is called by the handler with its new socket */
  constructor(
    prepare: (socket: VisitorSocket) => void = () => {},
    options?: UpgradeOptions,
    closing?: AbortSignal,
  ) {
    const handler = (request: Request, info: FetchInfo): Response => {
      const { response, socket } = info.upgrade(request, options)
      this.socket = socket
      socket.binaryType = 'arraybuffer'
      for (const type of ['open', 'message', 'error', 'close'] as const)
        socket.addEventListener(type, (event) => this.events.push(told(event)))
      prepare(socket)
      return response
    }
    this.visitor = new Visitor(handler, { closing })
  }

  static async open(...options: ConstructorParameters<typeof Client>): Promise<Client> {
    const client = new Client(...options)
    await client.shakeHands(HANDSHAKE)
    return client
  }

  /** @returns the head of the server's answer */
  async shakeHands(request: string): Promise<string> {
    await this.visitor.send(request)
    const head = await this.visitor.receive('\r\n\r\n')
    await settle()
    return head
  }

  async send(...frames: Uint8Array[]): Promise<this> {
    await this.visitor.send(...frames)
    return this
  }

  /** The server's next frame, or undefined when it ended its direction. */
  async receive(): Promise<Frame | undefined> {
    for (;;) {
      const frame = this.#take()
      if (frame) return frame
      if (!(await this.pull())) return undefined
    }
  }

  /** Takes what the server wrote at once. @returns false when it ended its direction */
  async pull(): Promise<boolean> {
    const more = await this.visitor.stream.read()
    this.#received = Buffer.concat([this.#received, more ?? Buffer.alloc(0)])
    return more !== undefined
  }

  /** All of the server's frames up to its end; then the client ends, too, and the connection is over. */
  async rest(): Promise<Frame[]> {
    const frames: Frame[] = []
    for (let frame = await this.receive(); frame; frame = await this.receive()) frames.push(frame)
    await this.visitor.end()
    await this.visitor.served
    return frames
  }

  #take(): Frame | undefined {
    const all = this.#received
    if (all.length < 2) return undefined
    const short = all[1]!
    if ((all[0]! & 0xb0) !== 0x80 || short > 127) throw new Error('not a whole unmasked frame')
    const start = short === 127 ? 10 : short === 126 ? 4 : 2
    if (all.length < start) return undefined
    const length =
      short === 127 ? Number(all.readBigUInt64BE(2)) : short === 126 ? all.readUInt16BE(2) : short
    if (all.length < start + length) return undefined
    this.#received = all.subarray(start + length)
    return {
      opcode: all[0]! & 0x0f,
      ...((all[0]! & 0x40) !== 0 && { compressed: true }),
      payload: all.subarray(start, start + length),
    }
  }
}

function told(event: Event): unknown {
  if (event instanceof CloseEvent)
    return `close ${event.code} ${event.reason}${event.wasClean ? ' clean' : ''}`
  if (event instanceof MessageEvent) return event.data
  if ('error' in event) return `error ${(event.error as { code?: unknown }).code}`
  return event.type
}
