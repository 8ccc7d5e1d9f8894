// Questions and answers of the DNS as bytes (RFC 1035 §4). The only importer of dns-packet.

import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, RECURSION_DESIRED } from 'dns-packet'
import { caaText, fromPresentation } from '../providers/record-value.ts'
import { plainName } from '../providers/zone-names.ts'
import { UDP_ANSWER_MAX_BYTES } from './limits.ts'
import { isCheap } from './weigh.ts'

/** The types whose values are read. */
export type RecordKind = 'A' | 'AAAA' | 'CAA' | 'CNAME' | 'NS' | 'SOA' | 'TXT'

export interface Question {
  /** In lower case, without a trailing dot. */
  name: string
  type: RecordKind
  /** Whether the server is to find the answer elsewhere, as resolvers do. @default false */
  isRecursive?: boolean
}

/** A record of an answer. */
export interface DnsRecord {
  /** In lower case, without a trailing dot. */
  name: string
  type: RecordKind
  /** Seconds. */
  ttl: number
  /**
   * An address in one spelling, the text of TXT, a host without a trailing dot, of CAA `0 issue "…"`; of SOA the seconds for which
   * "no such record" may be cached.
   */
  value: string
}

export interface DnsAnswer {
  isAuthoritative: boolean
  /** Whether the answer was too long for UDP. */
  isTruncated: boolean
  /** Such as `NOERROR`, `NXDOMAIN` or `REFUSED`. */
  code: string
  answers: readonly DnsRecord[]
  authorities: readonly DnsRecord[]
  additionals: readonly DnsRecord[]
}

const KINDS: readonly string[] = ['A', 'AAAA', 'CAA', 'CNAME', 'NS', 'SOA', 'TXT'] satisfies RecordKind[]

export function encodeQuestion(id: number, { name, type, isRecursive = false }: Question): Buffer {
  return encode({
    type: 'query',
    id,
    flags: isRecursive ? RECURSION_DESIRED : 0,
    questions: [{ type, name, class: 'IN' }],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: UDP_ANSWER_MAX_BYTES,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  })
}

/** @returns undefined for bytes that are no answer to this question */
export function decodeAnswer(bytes: Buffer, id: number, { name, type }: Question): DnsAnswer | undefined {
  try {
    if (bytes.readUInt16BE() !== id || !isCheap(bytes)) return undefined
    const packet = decode(bytes)
    const [asked, ...others] = packet.questions ?? []
    if (packet.type !== 'response' || others.length > 0) return undefined
    if (asked === undefined || plainName(asked.name) !== name || asked.type !== type) return undefined
    return {
      isAuthoritative: ((packet.flags ?? 0) & AUTHORITATIVE_ANSWER) !== 0,
      isTruncated: packet.flag_tc,
      code: (packet as typeof packet & { rcode: string }).rcode,
      answers: recordsOf(packet.answers),
      authorities: recordsOf(packet.authorities),
      additionals: recordsOf(packet.additionals),
    }
  } catch {
    return undefined
  }
}

function recordsOf(answers: readonly Answer[] = []): DnsRecord[] {
  return answers
    .filter(({ type }) => KINDS.includes(type))
    .map((answer) => ({
      name: plainName(answer.name),
      type: answer.type as RecordKind,
      ttl: 'ttl' in answer ? (answer.ttl ?? 0) : 0,
      value: plainValue(answer),
    }))
}

function plainValue(answer: Answer): string {
  switch (answer.type) {
    case 'TXT':
      return [answer.data].flat().map(String).join('')
    case 'CAA':
      return caaText({ flags: answer.data.flags ?? 0, tag: answer.data.tag, value: answer.data.value })
    case 'SOA':
      return String(Math.min(answer.ttl ?? 0, answer.data.minimum ?? 0))
    case 'CNAME':
    case 'NS':
      return plainName(answer.data)
    case 'A':
    case 'AAAA':
      return fromPresentation(answer.type, answer.data)
    default:
      return ''
  }
}
