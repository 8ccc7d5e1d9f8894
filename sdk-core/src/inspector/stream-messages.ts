// Splits a content that carries messages while its bytes pass: server-sent events, and messages of gRPC.

import { KeptBytes } from './kept-bytes.ts'
import { MESSAGE_BYTES } from './limits.ts'

/** A SplitMessage is a message as its splitter found it. */
export interface SplitMessage {
  kind: 'event' | 'grpc'
  size: number
  data: Uint8Array<ArrayBuffer>
  event?: string | undefined
  eventId?: string | undefined
  isCompressed?: boolean | undefined
}

/** A Splitter gets the bytes of a content as they pass. */
export interface Splitter {
  add(bytes: Uint8Array): void
}

type Emit = (message: SplitMessage) => void

const GRPC_PREFIX_BYTES = 5

/** Messages of gRPC: a flag, a length of four bytes, and the message. */
export class GrpcMessages implements Splitter {
  readonly #emit: Emit
  readonly #prefix: number[] = []
  #data = new KeptBytes(MESSAGE_BYTES)
  #left = 0

  constructor(emit: Emit) {
    this.#emit = emit
  }

  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#prefix.length < GRPC_PREFIX_BYTES) {
        this.#prefix.push(bytes[at]!)
        at += 1
        if (this.#prefix.length < GRPC_PREFIX_BYTES) continue
        const [, ...length] = this.#prefix
        this.#left = length.reduce((sum, byte) => sum * 256 + byte, 0)
      } else {
        const part = bytes.subarray(at, at + this.#left)
        this.#data.add(part)
        this.#left -= part.length
        at += part.length
      }
      if (this.#left === 0) this.#end()
    }
  }

  #end(): void {
    const { bytes: size, beginning: data } = this.#data
    this.#emit({ kind: 'grpc', size, data, isCompressed: this.#prefix[0] === 1 })
    this.#prefix.length = 0
    this.#data = new KeptBytes(MESSAGE_BYTES)
  }
}

/** Server-sent events (HTML standard, "event stream interpretation"). */
export class ServerEvents implements Splitter {
  readonly #emit: Emit
  readonly #decoder = new TextDecoder()
  /** The beginning of the current line, and the bytes of it that are not kept. */
  #line = ''
  #lineRest = 0
  #data: string[] = []
  #kept = 0
  #size = 0
  #event: string | undefined
  #eventId: string | undefined
  #wasCr = false

  constructor(emit: Emit) {
    this.#emit = emit
  }

  add(bytes: Uint8Array): void {
    let text = this.#decoder.decode(bytes, { stream: true })
    if (this.#wasCr && text.startsWith('\n')) text = text.slice(1)
    if (text !== '') this.#wasCr = text.endsWith('\r')
    const lines = text.split(/\r\n|\n|\r/)
    for (const [index, part] of lines.entries()) {
      const room = Math.max(0, MESSAGE_BYTES - this.#line.length)
      this.#line += part.slice(0, room)
      this.#lineRest += Math.max(0, part.length - room)
      if (index < lines.length - 1) this.#endLine()
    }
  }

  #endLine(): void {
    const line = this.#line
    const rest = this.#lineRest
    this.#line = ''
    this.#lineRest = 0
    if (line === '') this.#endEvent()
    else this.#readField(line, rest)
  }

  #readField(line: string, rest: number): void {
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'event') this.#event = value
    else if (field === 'id') this.#eventId = value
    else if (field === 'data') {
      this.#size += value.length + rest
      const room = MESSAGE_BYTES - this.#kept
      if (room <= 0) return
      this.#data.push(value.slice(0, room))
      // An empty line takes memory, too.
      this.#kept += value.length + 1
    }
  }

  #endEvent(): void {
    if (this.#data.length > 0 || this.#event !== undefined)
      this.#emit({
        kind: 'event',
        size: this.#size,
        data: new TextEncoder().encode(this.#data.join('\n')),
        event: this.#event,
        eventId: this.#eventId,
      })
    this.#data = []
    this.#kept = 0
    this.#size = 0
    this.#event = undefined
  }
}
