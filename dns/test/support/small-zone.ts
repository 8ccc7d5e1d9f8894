// A zone without signatures, for tests of what carries its answers.

import type { AnswerOptions, AuthoritativeZone, Question, ZoneAnswer } from '../../src/zone/answer.ts'
import { DnsName } from '../../src/zone/name.ts'
import { TYPE } from './dns-message.ts'

const TTL_S = 60
const NXDOMAIN = 3
const TEXT_BYTES = 250

/** `relay.test`: an A record at the apex and at `a.b`, long texts at `long` and `huge`, an error at `broken`. */
export class SmallZone implements AuthoritativeZone {
  readonly apex: DnsName = DnsName.parse('relay.test')
  version = 1
  /** Questions that came here, since their answers were not in the cache. */
  asked: { question: Question; dnssecOk: boolean; options: AnswerOptions | undefined }[] = []
  signsNoMore = false

  sourceOf(name: DnsName): string {
    const text = name.toString().toLowerCase()
    return ['relay.test', 'a.b.relay.test', 'long.relay.test', 'huge.relay.test'].includes(text) ? text : '*'
  }

  answer(question: Question, dnssecOk: boolean, options?: AnswerOptions): ZoneAnswer {
    this.asked.push({ question, dnssecOk, options })
    const name = question.name.toString().toLowerCase()
    if (name === 'broken.relay.test') throw new Error('the zone is broken')
    if (this.signsNoMore && !options?.isAddressProven)
      return { rcode: 0, answers: [], authority: [], isTruncated: true }
    const soa = { name: this.apex, type: TYPE.SOA, ttl: TTL_S, data: SOA }
    const texts = { 'long.relay.test': 2, 'huge.relay.test': 8 }[name]
    const isKnown = texts !== undefined || ['relay.test', 'a.b.relay.test'].includes(name)
    if (!isKnown) return { rcode: NXDOMAIN, answers: [], authority: [soa] }
    if (texts !== undefined && question.type === TYPE.TXT)
      return {
        rcode: 0,
        answers: Array.from({ length: texts }, (_, index) => ({
          ...question,
          ttl: TTL_S,
          data: text(index),
        })),
        authority: [],
      }
    if (texts === undefined && question.type === TYPE.A)
      return {
        rcode: 0,
        answers: [{ ...question, ttl: TTL_S, data: Buffer.from([192, 0, 2, this.version]) }],
        authority: [],
      }
    return { rcode: 0, answers: [], authority: [soa] }
  }
}

const SOA = Buffer.concat([
  DnsName.parse('ns1.relay.test').wire,
  DnsName.parse('hostmaster.relay.test').wire,
  Buffer.alloc(20),
])

function text(index: number): Buffer {
  return Buffer.concat([Buffer.from([TEXT_BYTES]), Buffer.alloc(TEXT_BYTES, index)])
}
