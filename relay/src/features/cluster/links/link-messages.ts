// Defines the messages between machines, and how a stream of a link carries them: each is four bytes of length and
// JSON.

import type { Stream } from '@svc/yamux'
import { z } from '../../../core/config/schema.ts'
import { LINK_MESSAGE_MAX_BYTES } from '../limits.ts'

const LENGTH_BYTES = 4
/** The version of these messages. Machines of different versions work side by side: each ignores what it does not know. */
export const LINK_VERSION = 1
/** The oldest version with which this one works. */
export const LINK_VERSION_MIN = 1

/** Ready sessions of a lease: identity key, lease id, number. */
export type SessionCount = [key: string, id: string, ready: number]

export type LinkMessage =
  /** Changed numbers of ready sessions at the sender. */
  | { kind: 'sessions'; counts: SessionCount[] }
  /** The entry of a lease that Redis could not take. */
  | { kind: 'lease'; name: string; head: string; json: string }
  /** Whether the sender is in step with Redis. If not, the others send it changes directly. */
  | { kind: 'step'; isInStep: boolean }
  /** A change that the receiver does not get from Redis: its kind, what it is about, and its entry. */
  | { kind: 'change'; of: string; subject: string; entry: string }
  | Question
  /** A message from one part of a machine to the same part of another one. */
  | { kind: 'tell'; topic: string; text: string }
  | { kind: 'answer'; question: number; yes: boolean }

export type Question =
  /** Asks the receiver to use up a binding. `binding` and `clientHello` are base64. */
  | { kind: 'spend'; question: number; key: string; id: string; binding: string; clientHello: string }
  /** Asks whether a change is in force; the receiver waits for it. */
  | { kind: 'settle'; question: number; change: string }
  /** Asks whether another identity has the friendly hostname of this one, or had it until a moment ago. */
  | { kind: 'taken'; question: number; key: string }

const text = z.string()
const question = z.int()

/** Unknown members and kinds come from a newer version. */
const schema: z.ZodType<LinkMessage> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sessions'), counts: z.array(z.tuple([text, text, z.int()])) }),
  z.object({ kind: z.literal('lease'), name: text, head: text, json: text }),
  z.object({ kind: z.literal('step'), isInStep: z.boolean() }),
  z.object({ kind: z.literal('change'), of: text, subject: text, entry: text }),
  z.object({ kind: z.literal('spend'), question, key: text, id: text, binding: text, clientHello: text }),
  z.object({ kind: z.literal('settle'), question, change: text }),
  z.object({ kind: z.literal('taken'), question, key: text }),
  z.object({ kind: z.literal('tell'), topic: text, text }),
  z.object({ kind: z.literal('answer'), question, yes: z.boolean() }),
])

/** @returns undefined for a message of a newer version */
export function parseLinkMessage(json: string): LinkMessage | undefined {
  const read = schema.safeParse(JSON.parse(json))
  return read.success ? read.data : undefined
}

/** Encodes bytes with their length before them. */
export function frame(bytes: Uint8Array): Buffer<ArrayBuffer> {
  const framed = Buffer.allocUnsafe(LENGTH_BYTES + bytes.length)
  framed.writeUInt32BE(bytes.length, 0)
  framed.set(bytes, LENGTH_BYTES)
  return framed
}

export function frameJson(value: unknown): Buffer<ArrayBuffer> {
  return frame(Buffer.from(JSON.stringify(value)))
}

/** Reads frames from a stream, and nothing beyond the last one requested. */
export class FrameReader {
  readonly #stream: Stream
  #received = Buffer.alloc(0)

  constructor(stream: Stream) {
    this.#stream = stream
  }

  /**
   * Reads one frame.
   * @returns undefined at the end of the stream
   * @throws RangeError for a frame that is too long, YamuxError when the stream was reset
   */
  async next(signal?: AbortSignal): Promise<Buffer | undefined> {
    const head = await this.#exactly(LENGTH_BYTES, signal)
    if (head === undefined) return undefined
    const length = head.readUInt32BE(0)
    if (length > LINK_MESSAGE_MAX_BYTES) throw new RangeError(`a message of ${length} bytes is too long`)
    return await this.#exactly(length, signal)
  }

  async #exactly(length: number, signal: AbortSignal | undefined): Promise<Buffer | undefined> {
    const pieces = [this.#received]
    let size = this.#received.length
    while (size < length) {
      const bytes = await this.#stream.read({ signal })
      if (bytes === undefined) return undefined
      // The bytes may be valid only until the next read.
      pieces.push(Buffer.from(bytes))
      size += bytes.length
    }
    const all = pieces.length === 1 ? this.#received : Buffer.concat(pieces)
    this.#received = all.subarray(length)
    return all.subarray(0, length)
  }
}
