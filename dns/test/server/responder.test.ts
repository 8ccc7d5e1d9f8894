import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { Client } from '../../src/server/client.ts'
import { UDP_PAYLOAD_MAX_BYTES } from '../../src/server/limits.ts'
import { Responder } from '../../src/server/responder.ts'
import {
  cookieOf,
  dnsQuery,
  optRecord,
  RD,
  readAnswer,
  type TestQuery,
  TYPE,
  wireName,
  word,
} from '../support/dns-message.ts'
import { SmallZone } from '../support/small-zone.ts'

const CLIENT = new Client().set('192.0.2.7')
const [NOERROR, FORMERR, SERVFAIL, NXDOMAIN, NOTIMP, REFUSED, BADVERS, BADCOOKIE] = [0, 1, 2, 3, 4, 5, 16, 23]
const QR = 0x8000
const OPCODES_OTHER = [1, 2, 4, 5, 6, 15]
const [AA, TC] = [0x0400, 0x0200]
const COOKIE = 10
const PADDING = 12

let zone: SmallZone
let errors: unknown[]
let responder: Responder

beforeEach(() => {
  zone = new SmallZone()
  errors = []
  responder = new Responder({ zone, onZoneError: (error) => errors.push(error) })
})

const ask = (query?: TestQuery): Buffer | undefined => responder.respond(dnsQuery(query), CLIENT, 'udp')
const flagsOf = (answer: Buffer | undefined): number => answer!.readUInt16BE(2)

describe('answers', () => {
  test('an answer has the records, AA, and never RA', () => {
    const answer = ask()
    expect(readAnswer(answer)).toMatchObject({
      id: 0x1234,
      rcode: NOERROR,
      questions: [{ name: 'relay.test', type: 'A' }],
      answers: [{ name: 'relay.test', type: 'A', data: '192.0.2.1', ttl: 60 }],
    })
    expect(flagsOf(answer)).toBe(QR | AA | RD)
    expect(responder.counts.queries.answered).toBe(1)
  })

  test('a name that does not exist, and names in authority that are compressed', () => {
    const answer = ask({ name: 'x.relay.test' })
    expect(readAnswer(answer)).toMatchObject({
      rcode: NXDOMAIN,
      authorities: [{ name: 'relay.test', type: 'SOA' }],
    })
    expect(responder.counts.queries.nxdomain).toBe(1)
    // A pointer of two bytes stands for the owner's name.
    expect(answer!.length).toBe(dnsQuery({ name: 'x.relay.test' }).length + 2 + 10 + 16 + 23 + 20)
  })

  test('the letters of the question stay as they were asked, also from the cache', () => {
    for (const name of ['ReLaY.tEsT', 'RELAY.TEST', 'relay.test']) {
      const answer = ask({ name })
      expect(answer!.subarray(12, 24)).toEqual(wireName(name))
      expect(readAnswer(answer).answers).toMatchObject([{ name, data: '192.0.2.1' }])
    }
    expect(zone.asked).toHaveLength(1)
  })

  test('the zone is asked again when it has changed, and for each kind of answer', () => {
    ask()
    zone.version = 2
    expect(readAnswer(ask()).answers).toMatchObject([{ data: '192.0.2.2' }])
    ask({ edns: { flags: 0x8000 } })
    ask({ edns: { flags: 0xc000 } })
    ask({ edns: {} })
    expect(zone.asked.map(({ dnssecOk, options }) => [dnssecOk, options?.compactAnswersOk])).toEqual([
      [false, false],
      [false, false],
      [true, false],
      [true, true],
    ])
  })

  test('labels of 63 octets and a name of 255 are answered', () => {
    const label = 'x'.repeat(63)
    const name = `${[label, label, label].join('.')}.${'y'.repeat(63 - 3 - 10)}.relay.test`
    expect(wireName(name)).toHaveLength(255)
    expect(readAnswer(ask({ name }))).toMatchObject({ rcode: NXDOMAIN })
  })

  test('octets that are no letters are names like others', () => {
    const answer = ask({ name: '\0\xff@[.relay.test' })
    expect(answer![3]! & 0xf).toBe(NXDOMAIN)
    expect(answer!.subarray(12, 30)).toEqual(dnsQuery({ name: '\0\xff@[.relay.test' }).subarray(12, 30))
  })

  test('a zone that throws is SERVFAIL, said to the owner, and not kept', () => {
    for (const expected of [1, 2]) {
      expect(readAnswer(ask({ name: 'broken.relay.test' }))).toMatchObject({ rcode: SERVFAIL })
      expect(errors).toHaveLength(expected)
    }
    expect(responder.counts.queries.failed).toBe(2)
  })
})

describe('refusals', () => {
  test.each(['test', 'example.com', 'relay.test.example.com', 'otherrelay.test', ''])(
    'another zone: %s',
    (name) => {
      const answer = ask({ name })
      expect(readAnswer(answer)).toMatchObject({ rcode: REFUSED, answers: [], authorities: [] })
      expect(flagsOf(answer)! & AA).toBe(0)
    },
  )

  test.each([
    ['AXFR', { type: TYPE.AXFR }, REFUSED],
    [
      'IXFR',
      {
        type: TYPE.IXFR,
        counts: { authority: 1 },
        tail: Buffer.concat([wireName('relay.test'), Buffer.from([0, 6, 0, 1, 0, 0, 0, 0, 0, 0])]),
      },
      REFUSED,
    ],
    ['OPT as a type', { type: 41 }, FORMERR],
    ['NXNAME', { type: 128 }, FORMERR],
    ['TSIG', { type: 250 }, FORMERR],
    ['TKEY', { type: 249 }, NOTIMP],
    ['MAILB', { type: 253 }, NOTIMP],
    ['MAILA', { type: 254 }, NOTIMP],
    ['class CH', { class: 3, name: 'version.bind', type: TYPE.TXT }, REFUSED],
    ['class NONE', { class: 254 }, REFUSED],
    ['class ANY', { class: 255 }, REFUSED],
    ['class 0', { class: 0 }, REFUSED],
    ['EDNS version 1', { edns: { version: 1 } }, BADVERS],
    ['EDNS version 255', { edns: { version: 255 } }, BADVERS],
  ] as [string, TestQuery, number][])('%s', (_what, query, rcode) => {
    expect(readAnswer(ask(query))).toMatchObject({ rcode, answers: [] })
    expect(zone.asked).toEqual([])
  })

  test.each(OPCODES_OTHER)('opcode %d', (opcode) => {
    const answer = ask({ flags: opcode << 11 })
    expect(answer).toHaveLength(12)
    expect(flagsOf(answer)).toBe(QR | (opcode << 11) | NOTIMP)
  })
})

describe('malformed messages', () => {
  test.each([
    ['nothing', Buffer.alloc(0)],
    ['less than a header', Buffer.alloc(11)],
    ['an answer', dnsQuery({ flags: QR })],
  ])('%s gets no answer', (_what, message) => {
    expect(responder.respond(message, CLIENT, 'udp')).toBeUndefined()
    expect(responder.counts.queries.dropped).toBe(1)
  })

  const header = dnsQuery().subarray(0, 12)
  const question = Buffer.concat([word(TYPE.A), word(1)])
  test.each([
    ['only a header', header],
    ['a name that points to itself', Buffer.concat([header, Buffer.from([0xc0, 12]), question])],
    ['a loop of pointers', Buffer.concat([header, Buffer.from([0xc0, 14, 0xc0, 12]), question])],
    [
      'a label of 64 octets',
      Buffer.concat([header, Buffer.from([64]), Buffer.alloc(64), Buffer.alloc(1), question]),
    ],
    [
      'a name of 256 octets',
      Buffer.concat([
        header,
        ...Array.from({ length: 15 }, () => wireName('x'.repeat(15)).subarray(0, 16)),
        Buffer.from([14]),
        Buffer.alloc(14, 0x78),
        Buffer.alloc(1),
        question,
      ]),
    ],
    ['a name that does not end', Buffer.concat([header, Buffer.from([63])])],
    ['a question without a class', Buffer.concat([header, wireName('relay.test'), word(1)])],
    [
      'two questions',
      dnsQuery({ counts: { questions: 2 }, tail: Buffer.concat([wireName('a.test'), question]) }),
    ],
    ['a question that is not there', dnsQuery({ counts: { questions: 0 } })],
    ['an answer that is not there', dnsQuery({ counts: { answers: 1 } })],
    ['an authority that is not there', dnsQuery({ counts: { authority: 65535 } })],
    ['additional records that are not there', dnsQuery({ counts: { additional: 65535 } })],
    ['bytes after the end', dnsQuery({ tail: Buffer.alloc(1) })],
    ['two OPT records', dnsQuery({ edns: {}, counts: { additional: 2 }, tail: optRecord({}) })],
    [
      'an OPT record of another name',
      dnsQuery({ counts: { additional: 1 }, tail: Buffer.concat([Buffer.from([1, 0x78]), optRecord({})]) }),
    ],
    [
      'an option that is longer than its record',
      dnsQuery({
        counts: { additional: 1 },
        tail: Buffer.concat([optRecord({}).subarray(0, 9), word(4), word(PADDING), word(1)]),
      }),
    ],
    ['a cookie of 7 bytes', dnsQuery({ edns: { options: [[COOKIE, Buffer.alloc(7)]] } })],
    ['a cookie of 15 bytes', dnsQuery({ edns: { options: [[COOKIE, Buffer.alloc(15)]] } })],
    ['a cookie of 41 bytes', dnsQuery({ edns: { options: [[COOKIE, Buffer.alloc(41)]] } })],
  ])('%s is FORMERR', (_what, message) => {
    const answer = responder.respond(message, CLIENT, 'udp')
    expect(answer![3]! & 0xf).toBe(FORMERR)
    expect(answer!.length).toBeLessThanOrEqual(message.length + 28)
    expect(zone.asked).toEqual([])
  })
})

describe('EDNS', () => {
  test('the answer has an OPT record exactly if the question has', () => {
    expect(readAnswer(ask()).additionals).toEqual([])
    const [opt] = readAnswer(ask({ edns: { flags: 0x8000 } })).additionals!
    expect(opt).toMatchObject({
      type: 'OPT',
      udpPayloadSize: UDP_PAYLOAD_MAX_BYTES,
      ednsVersion: 0,
      flag_do: true,
      options: [],
    })
  })

  test('unknown options, flags and additional records have no effect', () => {
    const options: [number, Buffer][] = [
      [PADDING, Buffer.alloc(100)],
      [65001, Buffer.alloc(0)],
    ]
    const tail = Buffer.concat([
      Buffer.from([0xc0, 12]),
      word(16),
      word(1),
      Buffer.alloc(4),
      word(2),
      word(0x0161),
    ])
    const answer = readAnswer(ask({ edns: { flags: 0x3fff, options }, counts: { additional: 2 }, tail }))
    expect(answer).toMatchObject({
      rcode: NOERROR,
      answers: [{ data: '192.0.2.1' }],
      additionals: [{ flags: 0, options: [] }],
    })
  })

  test('what does not fit is truncated, to 512 bytes, to the client’s size, to 1232, and never over TCP', () => {
    const cookie = goodCookie()
    const ask = (name: string, payload: number, transport: 'udp' | 'tcp' = 'udp'): [number, boolean] => {
      const edns = { payload, options: [[COOKIE, cookie]] as [number, Buffer][] }
      const answer = responder.respond(dnsQuery({ name, type: TYPE.TXT, edns }), CLIENT, transport)!
      return [readAnswer(answer).answers!.length, (flagsOf(answer) & TC) !== 0]
    }
    expect(ask('long.relay.test', 512)).toEqual([0, true])
    expect(ask('long.relay.test', 0)).toEqual([0, true])
    expect(ask('long.relay.test', 1232)).toEqual([2, false])
    expect(ask('huge.relay.test', 65_535)).toEqual([0, true])
    expect(ask('huge.relay.test', 512, 'tcp')).toEqual([8, false])
    expect(responder.counts.queries.truncated).toBe(3)
    expect(responder.counts.overTcp).toBe(1)
  })

  test('without a cookie an answer has at most ten times the bytes of its question', () => {
    const query = { name: 'long.relay.test', type: TYPE.TXT, edns: {} }
    const answer = ask(query)!
    expect(readAnswer(answer).answers).toEqual([])
    expect(flagsOf(answer) & TC).toBe(TC)
    const padded = { ...query, edns: { options: [[PADDING, Buffer.alloc(40)]] as [number, Buffer][] } }
    expect(readAnswer(ask(padded)).answers).toHaveLength(2)
    expect(ask(padded)!.length).toBeLessThanOrEqual(10 * dnsQuery(padded).length)
  })

  test('a zone that signs no more truncates, does not keep that, and answers who has proved the address', () => {
    zone.signsNoMore = true
    expect(flagsOf(ask()) & TC).toBe(TC)
    expect(readAnswer(responder.respond(dnsQuery(), CLIENT, 'tcp')).answers).toHaveLength(1)
  })
})

describe('cookies and rates', () => {
  test('the zone learns who has proved the address, and the network', () => {
    const clients = ['192.0.2.7', '192.0.2.8', '192.0.3.7'].map((address) => new Client().set(address))
    clients.forEach((client, index) => {
      responder.respond(dnsQuery({ name: `x${index}.relay.test` }), client, 'tcp')
    })
    ask({ name: 'y.relay.test' })
    const [first, second, other, unproven] = zone.asked.map(({ options }) => options)
    expect(first).toMatchObject({ isAddressProven: true, network: second!.network })
    expect(other!.network).not.toBe(first!.network)
    expect(unproven).toMatchObject({ isAddressProven: false })
  })

  test('a client’s cookie gets ours, and a question without a name only asks for it', () => {
    const client = randomBytes(8)
    const edns = { options: [[COOKIE, client]] as [number, Buffer][] }
    const cookie = cookieOf(ask({ edns }))!
    expect(cookie).toHaveLength(24)
    expect(cookie.subarray(0, 8)).toEqual(client)
    const bare = Buffer.concat([
      dnsQuery({ counts: { questions: 0, additional: 1 } }).subarray(0, 12),
      optRecord(edns),
    ])
    const answer = responder.respond(bare, CLIENT, 'udp')
    expect(readAnswer(answer)).toMatchObject({ rcode: NOERROR, questions: [] })
    expect(cookieOf(answer)).toHaveLength(24)
  })

  test('a network beyond its rate gets every second answer, without records; its neighbours, good cookies and TCP get all', () => {
    const cookie = goodCookie()
    responder = new Responder({ zone, onZoneError: () => {}, rates: { name: { perSecond: 1, burst: 3 } } })
    const results = Array.from({ length: 9 }, () => ask())
    expect(results.slice(0, 3).every((answer) => readAnswer(answer).answers!.length === 1)).toBe(true)
    const beyond = results.slice(3)
    expect(beyond.filter((answer) => answer === undefined)).toHaveLength(3)
    for (const answer of beyond.filter((one) => one !== undefined)) {
      expect(flagsOf(answer) & TC).toBe(TC)
      expect(answer).toHaveLength(dnsQuery().length)
    }
    expect(responder.counts.queries).toMatchObject({ answered: 3, rate_limited: 6 })
    const sameNetwork = new Client().set('192.0.2.250')
    const [first, second] = [1, 2].map(() => responder.respond(dnsQuery(), sameNetwork, 'udp'))
    expect([first, second].filter((answer) => answer !== undefined)).toHaveLength(1)
    expect(
      readAnswer(responder.respond(dnsQuery(), new Client().set('192.0.3.7'), 'udp')).answers,
    ).toHaveLength(1)
    expect(readAnswer(responder.respond(dnsQuery(), CLIENT, 'tcp')).answers).toHaveLength(1)
    // A cookie of another server earns a new one at most; the new one then lets everything through.
    const withCookie = (content: Buffer): Buffer | undefined =>
      ask({ edns: { options: [[COOKIE, content]] } })
    const refused = [1, 2].map(() => withCookie(cookie)).filter((answer) => answer !== undefined)
    expect(refused.map((answer) => readAnswer(answer))).toMatchObject([{ rcode: BADCOOKIE, answers: [] }])
    const good = cookieOf(refused[0])!
    for (let count = 0; count < 20; count++) expect(readAnswer(withCookie(good)).answers).toHaveLength(1)
  })

  test('an IPv6 network is a /56', () => {
    responder = new Responder({ zone, onZoneError: () => {}, rates: { name: { perSecond: 1, burst: 1 } } })
    const from = (address: string): Buffer | undefined =>
      responder.respond(dnsQuery(), new Client().set(address), 'udp')
    expect(readAnswer(from('2001:db8:0:aa00::1')).answers).toHaveLength(1)
    expect(from('2001:db8:0:aaff::1')).toBeUndefined()
    expect(readAnswer(from('2001:db8:0:ab00::1')).answers).toHaveLength(1)
  })
})

/** A cookie that the responder made for the client. */
function goodCookie(): Buffer {
  return cookieOf(ask({ edns: { options: [[COOKIE, randomBytes(8)]] } }))!
}
