// Errors that the DNS server gives whatever else a message says have an OPT record where the message has one (RFC 6891 §6.1.1).

import { expect, test } from 'vitest'
import { Client } from '../../src/server/client.ts'
import { Responder } from '../../src/server/responder.ts'
import { cookieOf, dnsQuery, optRecord, readAnswer, TYPE, word } from '../support/dns-message.ts'
import { SmallZone } from '../support/small-zone.ts'

const CLIENT = new Client().set('192.0.2.7')
const [FORMERR, NOTIMP] = [1, 4]
const TC = 0x0200
const COOKIE = 10

test('another operation and two questions are answered with OPT where they have it, also beyond the rate', () => {
  const cookie: [number, Buffer] = [COOKIE, Buffer.alloc(8)]
  const second = Buffer.concat([Buffer.from([0xc0, 12]), word(TYPE.A), word(1)])
  const record = Buffer.concat([
    Buffer.from([0xc0, 12]),
    word(6),
    word(1),
    Buffer.alloc(4),
    word(1),
    Buffer.alloc(1),
  ])
  const header = (opcode: number, ...counts: number[]): Buffer =>
    Buffer.concat([word(1), word(opcode << 11), ...counts.map(word)])
  const question = dnsQuery().subarray(12)
  const update = [header(5, 1, 1, 1, 1), question, record, record]
  const twice = [header(0, 2, 0, 0, 1), question, second]
  for (const rates of [{}, { name: { perSecond: 1, burst: 1 } }]) {
    const responder = new Responder({ zone: new SmallZone(), onZoneError: () => {}, rates })
    for (const [parts, rcode] of [
      [update, NOTIMP],
      [twice, FORMERR],
    ] as const)
      for (const options of [[], [cookie]]) {
        const message = Buffer.concat([...parts, optRecord({ options })])
        const answers = [1, 2]
          .map(() => responder.respond(message, CLIENT, 'udp'))
          .filter((one) => one !== undefined)
        expect(answers.length).toBeGreaterThan(0)
        for (const answer of answers) {
          expect(answer.readUInt16BE(2) & (TC | 0xf)).toBe(rcode)
          expect(readAnswer(answer)).toMatchObject({ questions: [], additionals: [{ type: 'OPT' }] })
          expect(cookieOf(answer)?.length).toBe(options.length > 0 ? 24 : undefined)
        }
      }
  }
})

test('what cannot be read up to its OPT record is answered without one', () => {
  const responder = new Responder({ zone: new SmallZone(), onZoneError: () => {} })
  const header = Buffer.concat([1, 5 << 11, 1, 65_535, 65_535, 1].map(word))
  const broken = Buffer.concat([header, dnsQuery().subarray(12), optRecord({})])
  expect(responder.respond(broken, CLIENT, 'udp')).toHaveLength(12)
})
