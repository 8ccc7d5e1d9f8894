// Answers one message: the rules of RFC 1035, RFC 6891 (EDNS), RFC 7873 (cookies) and RFC 8906 for an authoritative server.

import { NETWORK_SLOTS } from '@svc/node-kit/gcra'
import type { AuthoritativeZone } from '../zone/answer.ts'
import { DnsName } from '../zone/name.ts'
import { AnswerCache } from './answer-cache.ts'
import type { Client } from './client.ts'
import { Cookies } from './cookies.ts'
import { type DnsCounts, noCounts, type Result } from './counts.ts'
import { hashOfText, slotOf } from './hash.ts'
import { AMPLIFICATION_MAX, UDP_PAYLOAD_MAX_BYTES, UDP_PAYLOAD_MIN_BYTES } from './limits.ts'
import { type Sections, writeSections } from './message-writer.ts'
import {
  type Edns,
  HEADER_BYTES,
  QR,
  type Query,
  type QueryHead,
  readHead,
  readOnlyEdns,
  readQuery,
  readWithoutQuestion,
} from './query.ts'
import { ResponseLimiter, type ResponseRates } from './response-rate.ts'

const OPCODE_QUERY = 0
const CLASS_IN = 1
/** The bits of the header's second word that an answer copies: opcode, RD, CD. */
const COPIED = 0x7910
const AA = 0x0400
const TC = 0x0200
const RCODE_MASK = 0xf
const RCODE_EXTENSION_SHIFT = 4

const NOERROR = 0
const FORMERR = 1
const SERVFAIL = 2
const NXDOMAIN = 3
const NOTIMP = 4
const REFUSED = 5
/** RFC 6891 §9, RFC 7873 §8. */
const BADVERS = 16
const BADCOOKIE = 23

const TYPE_OPT = 41
/** The type that occurs only in proofs (RFC 9824 §3.5 requires FORMERR for queries). */
const TYPE_NXNAME = 128
const TYPE_TKEY = 249
const TYPE_TSIG = 250
const TYPE_IXFR = 251
const TYPE_AXFR = 252
const TYPE_MAILB = 253
const TYPE_MAILA = 254
/** Meta types, which no zone has, with the answer's code. */
const META_TYPES: ReadonlyMap<number, number> = new Map([
  [TYPE_OPT, FORMERR],
  [TYPE_NXNAME, FORMERR],
  [TYPE_TKEY, NOTIMP],
  [TYPE_TSIG, FORMERR],
  [TYPE_IXFR, REFUSED],
  [TYPE_AXFR, REFUSED],
  [TYPE_MAILB, NOTIMP],
  [TYPE_MAILA, NOTIMP],
])
const RESULT_OF: ReadonlyMap<number, Result> = new Map([
  [NOERROR, 'answered'],
  [NXDOMAIN, 'nxdomain'],
  [FORMERR, 'malformed'],
  [NOTIMP, 'not_implemented'],
  [REFUSED, 'refused'],
  [BADVERS, 'bad_version'],
  [BADCOOKIE, 'rate_limited'],
])

const OPT_BYTES = 11
const OPTION_HEADER_BYTES = 4
const OPTION_COOKIE = 10
const FLAG_DO = 0x8000
const FLAG_CO = 0x4000
const TYPE_BYTES = 2

export type Transport = 'udp' | 'tcp'

export interface ResponderOptions {
  zone: AuthoritativeZone
  /** Called with the error when the zone throws. */
  onZoneError(error: unknown): void
  rates?: Partial<ResponseRates> | undefined
}

export class Responder {
  readonly counts: DnsCounts = noCounts()
  readonly #zone: AuthoritativeZone
  readonly #onZoneError: (error: unknown) => void
  readonly #cookies = new Cookies()
  readonly #cache = new AnswerCache()
  readonly #limiter: ResponseLimiter

  constructor({ zone, onZoneError, rates }: ResponderOptions) {
    this.#zone = zone
    this.#onZoneError = onZoneError
    this.#limiter = new ResponseLimiter(rates)
  }

  /** @returns the answer; undefined when there is none to send. Never throws. */
  respond(message: Buffer, client: Client, transport: Transport): Buffer | undefined {
    if (transport === 'tcp') this.counts.overTcp++
    const head = readHead(message)
    if (head === undefined) return this.#count('dropped')
    const query = wholeQuery(message, head)
    const cookie = query?.edns?.cookie
    const hasGoodCookie = cookie !== undefined && this.#cookies.isGood(cookie, client)
    const isProven = hasGoodCookie || transport === 'tcp'
    const refusal = refusalOf(head, query)
    const isAnswerable = query !== undefined && refusal === undefined
    const known = isAnswerable ? this.#cache.get(keyOf(query), this.#zone.version) : undefined
    const source = (): number => known?.source ?? (isAnswerable ? this.#sourceOf(query) : SOURCE_OF_ERRORS)
    const verdict = isProven ? this.#limiter.judgeProven(client) : this.#limiter.judge(client, source)
    // Over TCP nothing is lost, so a client would wait for its answer.
    if (verdict === 'drop' && transport === 'udp') return this.#count('rate_limited')
    const newCookie = cookie && this.#cookies.answer(cookie, hasGoodCookie, client)
    const options = { message, head, query, cookie: newCookie, client }
    if (verdict !== 'send') {
      this.#count('rate_limited')
      return writeResponse({ ...options, ...withoutRecords(refusal, isProven, newCookie !== undefined) })
    }
    if (!isAnswerable) return this.#refuse(options, refusal ?? FORMERR)
    return this.#answer({ ...options, query }, known, isProven, transport)
  }

  #answer(
    options: ResponseOptions & { query: Query },
    known: Sections | undefined,
    isProven: boolean,
    transport: Transport,
  ): Buffer {
    const { query, message, client } = options
    const network = isProven ? slotOf(client.networkHash, NETWORK_SLOTS) : undefined
    const sections = known ?? this.#sectionsFor(query, network)
    if (typeof sections === 'number') return this.#refuse(options, sections)
    const flags = sections.rcode === REFUSED ? 0 : AA
    const max = transport === 'tcp' ? Number.POSITIVE_INFINITY : udpMax(query.edns, message.length, isProven)
    const isTruncated = sections === NO_RECORDS || sizeOf(options) + sections.bytes.length > max
    this.#count(isTruncated ? 'truncated' : (RESULT_OF.get(sections.rcode) ?? 'failed'))
    if (isTruncated) return writeResponse({ ...options, rcode: NOERROR, flags: AA | TC })
    return writeResponse({ ...options, rcode: sections.rcode, flags, sections })
  }

  /** @returns a hash of the name of the zone that an answer comes from */
  #sourceOf(query: Query): number {
    const name = nameOf(query)
    return name.isBelowOrAt(this.#zone.apex) ? hashOfText(this.#zone.sourceOf(name)) : SOURCE_OF_ERRORS
  }

  /**
   * @param network the number of the client's network, if its address is proven
   * @returns an error code when the zone has no answer
   */
  #sectionsFor(query: Query, network: number | undefined): Sections | number {
    try {
      const name = nameOf(query)
      if (!name.isBelowOrAt(this.#zone.apex)) return REFUSED
      const { edns, type } = query
      const answer = this.#zone.answer({ name, type }, edns?.dnssecOk === true, {
        compactAnswersOk: edns?.compactOk === true,
        isAddressProven: network !== undefined,
        network: network ?? 0,
      })
      if (answer.isTruncated) return NO_RECORDS
      if (answer.rcode === SERVFAIL) return SERVFAIL
      const sections = writeSections(answer, query.name, query.questionEnd, this.#sourceOf(query))
      this.#cache.set(keyOf(query), sections)
      return sections
    } catch (error) {
      this.#onZoneError(error)
      return SERVFAIL
    }
  }

  #refuse(options: ResponseOptions, rcode: number): Buffer {
    this.#count(RESULT_OF.get(rcode) ?? 'failed')
    return writeResponse({ ...options, rcode, flags: 0 })
  }

  #count(result: Result): undefined {
    this.counts.queries[result]++
  }
}

/** Empty sections, also for truncated answers. */
const NO_RECORDS: Sections = { rcode: NOERROR, answers: 0, authority: 0, bytes: Buffer.alloc(0), source: 0 }
/** All errors outside the zone count as one name. */
const SOURCE_OF_ERRORS = 0

/** @returns undefined when the question is malformed */
function wholeQuery(message: Buffer, head: QueryHead): Query | undefined {
  if (head.opcode !== OPCODE_QUERY || head.count > 1) return readOnlyEdns(message, head)
  return head.count === 0 ? readWithoutQuestion(message, head) : readQuery(message, head)
}

/** @returns the error code; undefined for a question that the zone may answer */
function refusalOf(head: QueryHead, query: Query | undefined): number | undefined {
  if (head.opcode !== OPCODE_QUERY) return NOTIMP
  if (query === undefined || head.count > 1) return FORMERR
  // The second section of an incremental transfer has a record (RFC 1995 §3).
  if (query.type === TYPE_IXFR) return REFUSED
  if (query.isMalformed) return FORMERR
  if (query.edns && query.edns.version > 0) return BADVERS
  if (query.count === 0) return query.edns?.cookie ? NOERROR : FORMERR
  if (query.class !== CLASS_IN) return REFUSED
  return META_TYPES.get(query.type)
}

/** The answer beyond the rate limit: an error unchanged, otherwise one after which a real client retries. */
function withoutRecords(
  refusal: number | undefined,
  isProven: boolean,
  hasCookie: boolean,
): { rcode: number; flags: number } {
  if (refusal !== undefined) return { rcode: refusal, flags: 0 }
  if (isProven) return { rcode: REFUSED, flags: 0 }
  return hasCookie ? { rcode: BADCOOKIE, flags: 0 } : { rcode: NOERROR, flags: TC }
}

function nameOf({ name }: Query): DnsName {
  return DnsName.fromWire(Buffer.from(name, 'latin1'))
}

/** The cache key, with the flags on which signatures and the code for missing names depend. */
function keyOf({ name, type, edns }: Query): string {
  const flags = edns?.dnssecOk ? (edns.compactOk ? 'c' : 'd') : ''
  return `${flags}${type} ${name}`
}

/** The largest UDP answer, in bytes. If the address may be spoofed, the answer is not much larger than the question. */
function udpMax(edns: Edns | undefined, questionBytes: number, isProven: boolean): number {
  const payload = edns
    ? Math.min(UDP_PAYLOAD_MAX_BYTES, Math.max(UDP_PAYLOAD_MIN_BYTES, edns.payloadBytes))
    : UDP_PAYLOAD_MIN_BYTES
  return isProven ? payload : Math.min(payload, AMPLIFICATION_MAX * questionBytes)
}

interface ResponseOptions {
  message: Buffer
  head: QueryHead
  query: Query | undefined
  /** The content of the COOKIE option. */
  cookie: Buffer | undefined
  client: Client
}

interface Response extends ResponseOptions {
  rcode: number
  /** The flags AA and TC. */
  flags: number
  sections?: Sections
}

/** The size of an answer without records, in bytes. */
function sizeOf({ query, cookie }: ResponseOptions): number {
  const opt = query?.edns ? OPT_BYTES + (cookie ? OPTION_HEADER_BYTES + cookie.length : 0) : 0
  return (query?.questionEnd ?? HEADER_BYTES) + opt
}

/** Echoes the question unchanged, because resolvers verify the letter case (0x20). */
function writeResponse(response: Response): Buffer {
  const { message, head, query, rcode, flags, sections = NO_RECORDS } = response
  const edns = query?.edns
  const questionEnd = query?.questionEnd ?? HEADER_BYTES
  const written = Buffer.allocUnsafe(sizeOf(response) + sections.bytes.length)
  message.copy(written, 0, 0, questionEnd)
  written.writeUInt16BE(QR | (head.flags & COPIED) | flags | (rcode & RCODE_MASK), 2)
  written.writeUInt16BE(questionEnd > HEADER_BYTES ? 1 : 0, 4)
  written.writeUInt16BE(sections.answers, 6)
  written.writeUInt16BE(sections.authority, 8)
  written.writeUInt16BE(edns ? 1 : 0, 10)
  sections.bytes.copy(written, questionEnd)
  if (edns) writeOpt(written, questionEnd + sections.bytes.length, edns, response)
  return written
}

function writeOpt(written: Buffer, at: number, edns: Edns, { rcode, cookie }: Response): void {
  written[at] = 0
  written.writeUInt16BE(TYPE_OPT, at + 1)
  written.writeUInt16BE(UDP_PAYLOAD_MAX_BYTES, at + 1 + TYPE_BYTES)
  written[at + 5] = rcode >> RCODE_EXTENSION_SHIFT
  // The highest supported version.
  written[at + 6] = 0
  // RFC 3225 §3 and RFC 9824 §4.1 require both flags to be copied.
  written.writeUInt16BE((edns.dnssecOk ? FLAG_DO : 0) | (edns.compactOk ? FLAG_CO : 0), at + 7)
  written.writeUInt16BE(cookie ? OPTION_HEADER_BYTES + cookie.length : 0, at + 9)
  if (cookie === undefined) return
  written.writeUInt16BE(OPTION_COOKIE, at + OPT_BYTES)
  written.writeUInt16BE(cookie.length, at + OPT_BYTES + 2)
  cookie.copy(written, at + OPT_BYTES + OPTION_HEADER_BYTES)
}
