// Encodes the sections of an answer (RFC 1035 §4.1), with owner names compressed against the question and each other.

import type { ResourceRecord, ZoneAnswer } from '../zone/answer.ts'
import { HEADER_BYTES } from './query.ts'

const CLASS_IN = 1
/** Type, class, TTL and length of a record. */
const RECORD_FIXED_BYTES = 10
const POINTER = 0xc000
const POINTER_BYTES = 2
/** The largest offset in a compression pointer. */
const POINTER_MAX = 0x3fff
const NAME_MAX_BYTES = 255
/** The largest message over TCP, less the OPT record with a cookie (RFC 1035 §4.2.2). */
const SECTIONS_MAX_BYTES = 65_000

/** The encoded sections after the question, for reuse. */
export interface Sections {
  rcode: number
  answers: number
  authority: number
  /** The records of both sections. They are valid only after a question of exactly this length. */
  bytes: Buffer
  /** A hash of the name of the zone that they come from. */
  source: number
}

/**
 * @param name of the question, in lower case, in wire form, as latin1
 * @param questionEnd offset in the message
 * @param source as in {@link Sections}
 * @throws RangeError when the records do not fit into a message
 */
export function writeSections(
  { rcode, answers, authority }: ZoneAnswer,
  name: string,
  questionEnd: number,
  source: number,
): Sections {
  const records = [...answers, ...authority]
  const size = records.reduce((sum, { data }) => sum + NAME_MAX_BYTES + RECORD_FIXED_BYTES + data.length, 0)
  const writer = new SectionWriter(Buffer.allocUnsafeSlow(size), name, questionEnd)
  for (const record of records) writer.write(record)
  const bytes = writer.written()
  if (bytes.length > SECTIONS_MAX_BYTES) throw new RangeError('An answer does not fit into a message')
  return { rcode, answers: answers.length, authority: authority.length, bytes, source }
}

class SectionWriter {
  readonly #bytes: Buffer
  /** Offset of {@link #bytes} in the message. */
  readonly #start: number
  /** Names in the message, each with its offset. */
  readonly #offsets = new Map<string, number>()
  #at = 0

  constructor(bytes: Buffer, question: string, start: number) {
    this.#bytes = bytes
    this.#start = start
    for (let at = 0; question.charCodeAt(at) > 0; at += 1 + question.charCodeAt(at))
      this.#offsets.set(question.slice(at), HEADER_BYTES + at)
  }

  write({ name, type, ttl, data }: ResourceRecord): void {
    this.#writeName(name.wire, name.key)
    const bytes = this.#bytes
    bytes.writeUInt16BE(type, this.#at)
    bytes.writeUInt16BE(CLASS_IN, this.#at + 2)
    bytes.writeUInt32BE(ttl, this.#at + 4)
    bytes.writeUInt16BE(data.length, this.#at + 8)
    data.copy(bytes, this.#at + RECORD_FIXED_BYTES)
    this.#at += RECORD_FIXED_BYTES + data.length
  }

  /** @returns a copy without unused space */
  written(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#at))
  }

  /** Writes a name, with a pointer for the suffix that the message already has. */
  #writeName(wire: Buffer, key: string): void {
    let at = 0
    while (wire[at]! > 0) {
      const rest = key.slice(at)
      const offset = this.#offsets.get(rest)
      if (offset !== undefined) {
        this.#bytes.writeUInt16BE(POINTER | offset, this.#at)
        this.#at += POINTER_BYTES
        return
      }
      const here = this.#start + this.#at
      if (here <= POINTER_MAX) this.#offsets.set(rest, here)
      const next = at + 1 + wire[at]!
      this.#at += wire.copy(this.#bytes, this.#at, at, next)
      at = next
    }
    this.#bytes[this.#at++] = 0
  }
}
