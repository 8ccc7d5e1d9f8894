// Fuzz target `dns`: queries that are nearly right, or nothing at all, to the DNS server with a signed zone. Each gets the
// answer that the RFCs name, one that a codec which is not ours reads, and one that is not much larger than the question.

import { decode } from 'dns-packet'
import fc from '../../../tools/fast-check.ts'
import { fastest } from '../../../tools/fastest.ts'
import { Client } from '../../src/server/client.ts'
import { AMPLIFICATION_MAX, UDP_PAYLOAD_MAX_BYTES } from '../../src/server/limits.ts'
import { Responder, type Transport } from '../../src/server/responder.ts'
import { cookieOf, dnsQuery, rcodeOf, type TestQuery, wireName, word } from '../support/dns-message.ts'
import { testZone } from '../support/zone.ts'

/** Messages tried at a time. */
const ROUND_RUNS = 500
/** Milliseconds for one answer; a signature takes a twentieth of it. */
const ANSWER_MAX_MS = 5
/** Milliseconds of the zone's clock between two messages. */
const BETWEEN_MS = 1000
const QR = 0x8000
const [AA, TC, RA] = [0x0400, 0x0200, 0x0080]
const OPCODE = 0x7800
const COOKIE = 10
const TEXT_AT = 'text'
const [NOERROR, FORMERR, NXDOMAIN, NOTIMP, REFUSED, BADVERS] = [0, 1, 3, 4, 5, 16]
const RCODES: readonly number[] = [NOERROR, FORMERR, NXDOMAIN, NOTIMP, REFUSED, BADVERS]
const CLIENT = new Client().set('192.0.2.7')
const NO_RATE = { perSecond: 1e9, burst: 1e9 }
const NO_RATES = { name: NO_RATE, network: NO_RATE, proven: NO_RATE }

interface Input {
  message: Buffer
  transport: Transport
}

/** @throws Error with the message, on the first that is not treated as it has to be */
export async function fuzz(goesOn: (runs: number) => boolean, seed: number): Promise<{ runs: number }> {
  const { zone, clock, setText, setAddress } = testZone()
  setText(`${TEXT_AT}.relay.test`, 'a text of the zone'.repeat(45))
  setAddress('site.relay.test', '192.0.2.3')
  const responder = new Responder({ zone, rates: NO_RATES, onZoneError: rethrown })
  const good = goodCookie(responder)
  let runs = 0
  for (let round = 0; goesOn(runs); round++)
    fc.assert(
      fc.property(inputs(good), (input) => {
        runs += 1
        // The zone makes this many signatures a second, and in time renews them.
        clock.wall += BETWEEN_MS
        clock.monotonic += BETWEEN_MS
        check(responder, input)
      }),
      { numRuns: ROUND_RUNS, seed: (seed + round) | 0 },
    )
  return { runs }
}

function rethrown(error: unknown): never {
  throw error
}

function check(responder: Responder, { message, transport }: Input): void {
  const answer = responder.respond(message, CLIENT, transport)
  if (message.length < 12 || (message.readUInt16BE(2) & QR) !== 0) {
    if (answer !== undefined) throw new Error('what is no query was answered')
    return
  }
  if (answer === undefined) throw new Error('a query got no answer')
  checkHeader(message, answer)
  checkSize(message, answer, transport)
  checkCode(message, answer)
  const ms = fastest(() => responder.respond(message, CLIENT, transport), ANSWER_MAX_MS)
  if (ms > ANSWER_MAX_MS) throw new Error(`an answer took ${ms.toFixed(1)} ms`)
}

function checkHeader(message: Buffer, answer: Buffer): void {
  const [asked, flags] = [message.readUInt16BE(2), answer.readUInt16BE(2)]
  const isRight = (flags & QR) !== 0 && (flags & RA) === 0 && (flags & OPCODE) === (asked & OPCODE)
  if (!isRight || answer.readUInt16BE(0) !== message.readUInt16BE(0)) throw new Error('the header is wrong')
  if (answer.readUInt16BE(4) === 0) return
  const { questionEnd } = endOf(answer)
  if (!answer.subarray(12, questionEnd).equals(message.subarray(12, questionEnd)))
    throw new Error('the question is not the one that was asked')
}

function checkSize(message: Buffer, answer: Buffer, transport: Transport): void {
  if (transport === 'tcp') return
  if (answer.length > UDP_PAYLOAD_MAX_BYTES) throw new Error('the answer does not fit into a datagram')
  const isProven = hasGoodCookie(message, answer)
  if (!isProven && answer.length > AMPLIFICATION_MAX * message.length)
    throw new Error(`${message.length} bytes got ${answer.length}`)
}

/** An answer that has the cookie of the question says that it was good. */
function hasGoodCookie(message: Buffer, answer: Buffer): boolean {
  const cookie = cookieOf(answer)
  return cookie !== undefined && message.includes(cookie)
}

function checkCode(message: Buffer, answer: Buffer): void {
  const rcode = rcodeOf(answer)
  if (!RCODES.includes(rcode)) throw new Error(`the code is ${rcode}`)
  if ((message.readUInt16BE(2) & OPCODE) !== 0) {
    if (rcode !== NOTIMP) throw new Error('another operation is not NOTIMP')
    return
  }
  const flags = answer.readUInt16BE(2)
  const isEmpty = answer.readUInt16BE(6) + answer.readUInt16BE(8) === 0
  if ((flags & AA) === 0) {
    if (!isEmpty) throw new Error('an answer has records without AA')
    return
  }
  if ((flags & TC) !== 0 && !isEmpty) throw new Error('a truncated answer has records')
  // The zone has answered, so that the question was one, whole, of class IN, and of a name below the apex. The codec reads
  // only that: it throws on contents of options that the server need not know.
  const { questions = [] } = decode(Buffer.from(message).fill(0, 6, 12))
  const [question] = questions
  const isBelow = /(^|\.)relay\.test$/i.test(question?.name ?? '')
  if (questions.length !== 1 || question?.class !== 'IN' || !isBelow)
    throw new Error('the zone answered for another one')
  if (message.readUInt16BE(6) + message.readUInt16BE(8) > 0)
    throw new Error('a question with answers was answered')
}

function endOf(answer: Buffer): { questionEnd: number } {
  let at = 12
  while (answer[at]! > 0) at += 1 + answer[at]!
  return { questionEnd: at + 5 }
}

/** A cookie of this server. */
function goodCookie(responder: Responder): Buffer {
  const query = dnsQuery({ edns: { options: [[COOKIE, Buffer.alloc(8, 7)]] } })
  return cookieOf(responder.respond(query, CLIENT, 'tcp'))!
}

const LABELS = [
  'relay',
  'test',
  'site',
  'ns1',
  '*',
  '_acme-challenge',
  TEXT_AT,
  'x'.repeat(63),
  '\0',
  'A',
  '',
]
const TYPES = [
  0, 1, 2, 5, 6, 16, 28, 41, 43, 46, 47, 48, 59, 60, 65, 128, 249, 250, 251, 252, 253, 254, 255, 256, 257,
  65535,
]

const names = fc
  .tuple(
    fc.array(fc.constantFrom(...LABELS.slice(0, -1)), { maxLength: 6 }),
    fc.constantFrom('.relay.test', '.ReLaY.TeSt', '.example', ''),
  )
  .map(([labels, end]) => `${labels.join('.')}${end}`.replace(/^\./, ''))

function queries(good: Buffer): fc.Arbitrary<TestQuery> {
  const cookie = fc.oneof(
    fc.constant(good),
    fc.uint8Array({ maxLength: 48 }).map((bytes) => Buffer.from(bytes)),
  )
  const option = fc.oneof(
    cookie.map((content): [number, Buffer] => [COOKIE, content]),
    fc.tuple(
      fc.nat(65535),
      fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
    ),
  )
  const edns = fc.record({
    version: fc.constantFrom(0, 0, 0, 1, 255),
    payload: fc.constantFrom(0, 512, 1232, 4096, 65535),
    flags: fc.constantFrom(0, 0x8000, 0xc000, 0xffff),
    options: fc.array(option, { maxLength: 3 }),
  })
  const counts = fc.record(
    { questions: fc.nat(3), answers: fc.nat(2), authority: fc.nat(2), additional: fc.nat(3) },
    { requiredKeys: [] },
  )
  return fc.record(
    {
      name: names,
      type: fc.oneof(fc.constantFrom(...TYPES), fc.nat(65535)),
      class: fc.constantFrom(1, 1, 1, 1, 0, 3, 254, 255),
      id: fc.nat(65535),
      flags: fc.oneof(fc.constantFrom(0, 0x0100, 0x0110), fc.nat(65535)),
      edns,
      counts,
      tail: fc.constantFrom(
        Buffer.from([0xc0, 12]),
        Buffer.alloc(1),
        Buffer.concat([wireName('a'), word(1), word(1)]),
      ),
    },
    { requiredKeys: ['name', 'type'] },
  )
}

function inputs(good: Buffer): fc.Arbitrary<Input> {
  const mutation = fc.record({ at: fc.nat(400), byte: fc.constantFrom(0, 1, 0x3f, 0x40, 0x80, 0xc0, 0xff) })
  const written = fc
    .tuple(
      queries(good),
      fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(mutation, { maxLength: 4 })),
      fc.option(fc.nat(100)),
    )
    .map(([query, mutations, cut]) => {
      const message = dnsQuery(query)
      for (const { at, byte } of mutations) message[at % message.length] = byte
      return cut === null || cut % 4 > 0 ? message : message.subarray(0, cut)
    })
  const message = fc.oneof(
    { weight: 9, arbitrary: written },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes)) },
  )
  return fc.record({ message, transport: fc.constantFrom<Transport>('udp', 'udp', 'tcp') })
}
