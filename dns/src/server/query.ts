// Parses a query (RFC 1035 §4.1, RFC 6891 §6.1) without copying. It is hand-written, because the question is echoed byte by byte,
// untrusted input must not throw, and parsing is half of the cost of a cached answer.

import { CLIENT_COOKIE_BYTES, COOKIE_MAX_BYTES, COOKIE_MIN_BYTES } from './cookies.ts'

export const HEADER_BYTES = 12
/** Bits of the second word of a header. */
export const QR = 0x8000
const OPCODE_SHIFT = 11
const OPCODE_MASK = 0xf
/** Longest label and longest name (RFC 1035 §2.3.4). */
const LABEL_MAX_BYTES = 63
const NAME_MAX_BYTES = 255
/** Type and class. */
const QUESTION_FIXED_BYTES = 4
const TYPE_OPT = 41
/** An OPT record without options: root, type, payload, extended code and flags, length (RFC 6891 §6.1.2). */
const OPT_BYTES = 11
const OPTION_COOKIE = 10
const OPTION_HEADER_BYTES = 4
const UPPER_A = 0x41
const UPPER_Z = 0x5a
const TO_LOWER = 0x20
/** Bits of the flags of EDNS: DNSSEC answers OK (RFC 3225), compact answers OK (RFC 9824 §5). */
const FLAG_DO = 0x8000
const FLAG_CO = 0x4000

export interface Edns {
  version: number
  /** The largest UDP payload that the client accepts, in bytes. */
  payloadBytes: number
  dnssecOk: boolean
  compactOk: boolean
  /** The content of its COOKIE option. */
  cookie: Buffer | undefined
}

/** The header of a query. */
export interface QueryHead {
  id: number
  /** The second word of the header. */
  flags: number
  opcode: number
  /** Questions. */
  count: number
}

export interface Query extends QueryHead {
  /** Where the question ends; it begins after the header. */
  questionEnd: number
  /** The name in lower case, in wire form, as latin1. */
  name: string
  type: number
  class: number
  edns: Edns | undefined
  /** True when the part after the question is malformed: the answer is FORMERR. */
  isMalformed: boolean
}

/** @returns undefined for a message that is too short, or an answer */
export function readHead(message: Buffer): QueryHead | undefined {
  if (message.length < HEADER_BYTES) return undefined
  const flags = message.readUInt16BE(2)
  if (flags & QR) return undefined
  return {
    id: message.readUInt16BE(0),
    flags,
    opcode: (flags >> OPCODE_SHIFT) & OPCODE_MASK,
    count: message.readUInt16BE(4),
  }
}

/** @returns undefined when the question is malformed. A query's name is never compressed, because no name precedes it. */
export function readQuery(message: Buffer, head: QueryHead): Query | undefined {
  const nameEnd = endOfName(message, HEADER_BYTES)
  if (nameEnd === undefined || nameEnd + QUESTION_FIXED_BYTES > message.length) return undefined
  const query: Query = {
    ...head,
    questionEnd: nameEnd + QUESTION_FIXED_BYTES,
    name: lowerCase(message, nameEnd),
    type: message.readUInt16BE(nameEnd),
    class: message.readUInt16BE(nameEnd + 2),
    edns: undefined,
    isMalformed: false,
  }
  readAdditional(message, query, query.questionEnd)
  return query
}

/** Reads the OPT record of a message without a question, which only asks for a cookie (RFC 7873 §5.4). */
export function readWithoutQuestion(message: Buffer, head: QueryHead): Query {
  const query = queryWithoutQuestion(head)
  readAdditional(message, query, HEADER_BYTES)
  return query
}

/**
 * Reads only the OPT record of a message that is answered with an error anyway: another opcode, or several
 * questions. Its answer needs one too (RFC 6891 §6.1.1).
 */
export function readOnlyEdns(message: Buffer, head: QueryHead): Query {
  const query = queryWithoutQuestion(head)
  const [others, additional] = [message.readUInt16BE(6) + message.readUInt16BE(8), message.readUInt16BE(10)]
  let at: number | undefined = HEADER_BYTES
  for (let left = head.count; left > 0 && at !== undefined; left--) at = endOfQuestion(message, at)
  for (let left = others + additional; left > 0 && at !== undefined; left--)
    at = left > additional ? endOfRecord(message, at) : readRecord(message, query, at)
  query.isMalformed = at !== message.length
  return query
}

function queryWithoutQuestion(head: QueryHead): Query {
  return {
    ...head,
    questionEnd: HEADER_BYTES,
    name: '',
    type: 0,
    class: 0,
    edns: undefined,
    isMalformed: false,
  }
}

/** @returns undefined when it is incomplete. Its name may be compressed, as other opcodes allow. */
function endOfQuestion(message: Buffer, start: number): number | undefined {
  const nameEnd = endOfRecordName(message, start)
  return nameEnd === undefined || nameEnd + QUESTION_FIXED_BYTES > message.length
    ? undefined
    : nameEnd + QUESTION_FIXED_BYTES
}

/** @returns the offset after the name; undefined when it is incomplete, too long, or compressed */
function endOfName(message: Buffer, start: number): number | undefined {
  let at = start
  while (at < message.length) {
    const length = message[at]!
    if (length === 0) return at + 1 - start <= NAME_MAX_BYTES ? at + 1 : undefined
    if (length > LABEL_MAX_BYTES) return undefined
    at += 1 + length
    if (at - start >= NAME_MAX_BYTES) return undefined
  }
  return undefined
}

const lowered = Buffer.alloc(NAME_MAX_BYTES)

/** Length octets are below 64, so they are not letters. */
function lowerCase(message: Buffer, end: number): string {
  for (let at = HEADER_BYTES; at < end; at++) {
    const octet = message[at]!
    lowered[at - HEADER_BYTES] = octet >= UPPER_A && octet <= UPPER_Z ? octet | TO_LOWER : octet
  }
  return lowered.toString('latin1', 0, end - HEADER_BYTES)
}

/** A query has no answer or authority records, and at most one OPT among the additional ones. */
function readAdditional(message: Buffer, query: Query, start: number): void {
  query.isMalformed = message.readUInt16BE(6) !== 0 || message.readUInt16BE(8) !== 0
  let at = start
  for (let left = message.readUInt16BE(10); left > 0 && !query.isMalformed; left--) {
    const next = readRecord(message, query, at)
    query.isMalformed = next === undefined
    at = next ?? at
  }
  if (at !== message.length) query.isMalformed = true
}

/** @returns undefined when it is incomplete */
function endOfRecord(message: Buffer, start: number): number | undefined {
  const nameEnd = endOfRecordName(message, start)
  if (nameEnd === undefined || nameEnd - 1 + OPT_BYTES > message.length) return undefined
  const dataStart = nameEnd - 1 + OPT_BYTES
  const end = dataStart + message.readUInt16BE(dataStart - 2)
  return end > message.length ? undefined : end
}

/** @returns the offset after the record; undefined when it is malformed */
function readRecord(message: Buffer, query: Query, start: number): number | undefined {
  const end = endOfRecord(message, start)
  const nameEnd = endOfRecordName(message, start)
  if (end === undefined || nameEnd === undefined || message.readUInt16BE(nameEnd) !== TYPE_OPT) return end
  const dataStart = nameEnd - 1 + OPT_BYTES
  if (query.edns || nameEnd !== start + 1) return undefined
  const flags = message.readUInt16BE(nameEnd + 6)
  query.edns = {
    version: message[nameEnd + 5]!,
    payloadBytes: message.readUInt16BE(nameEnd + 2),
    dnssecOk: (flags & FLAG_DO) !== 0,
    compactOk: (flags & FLAG_CO) !== 0,
    cookie: undefined,
  }
  return readOptions(message, query.edns, dataStart, end) ? end : undefined
}

/** Skips a record's name, which may be compressed. */
function endOfRecordName(message: Buffer, start: number): number | undefined {
  let at = start
  while (at < message.length && message[at]! !== 0) {
    const length = message[at]!
    if (length > LABEL_MAX_BYTES)
      return (length & 0xc0) === 0xc0 && at + 2 <= message.length ? at + 2 : undefined
    at += 1 + length
  }
  return at < message.length ? at + 1 : undefined
}

/** Unknown options are ignored (RFC 6891 §6.1.2). @returns false when they are malformed */
function readOptions(message: Buffer, edns: Edns, start: number, end: number): boolean {
  let at = start
  while (at < end) {
    if (at + OPTION_HEADER_BYTES > end) return false
    const code = message.readUInt16BE(at)
    const next = at + OPTION_HEADER_BYTES + message.readUInt16BE(at + 2)
    if (next > end) return false
    // Of several cookies, the first one counts (RFC 7873 §5.2).
    if (code === OPTION_COOKIE && edns.cookie === undefined) {
      const cookie = message.subarray(at + OPTION_HEADER_BYTES, next)
      const { length } = cookie
      if (length !== CLIENT_COOKIE_BYTES && (length < COOKIE_MIN_BYTES || length > COOKIE_MAX_BYTES))
        return false
      edns.cookie = cookie
    }
    at = next
  }
  return true
}
