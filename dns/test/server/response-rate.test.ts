// A flood in the name of a network, or from it, leaves that network and others their share of answers.

import { beforeEach, expect, test } from 'vitest'
import { Client } from '../../src/server/client.ts'
import { Responder } from '../../src/server/responder.ts'
import { ResponseLimiter, type Verdict } from '../../src/server/response-rate.ts'
import { cookieOf, dnsQuery, readAnswer, type TestQuery } from '../support/dns-message.ts'
import { APEX, type TestZone, testZone } from '../support/zone.ts'

const [NOERROR, FORMERR, REFUSED] = [0, 1, 5]
const COOKIE = 10
const EACH = 10
const RATE = { perSecond: 1, burst: EACH }
const CLIENT = new Client().set('192.0.2.7')
const NEIGHBOUR = new Client().set('192.0.3.7')

let zone: TestZone
let responder: Responder

beforeEach(() => {
  zone = testZone()
  zone.setText(`shop.${APEX}`, 'text')
  zone.setText(`a.deep.${APEX}`, 'text')
  responder = new Responder({
    zone: zone.zone,
    onZoneError: (error) => {
      throw error
    },
    rates: { name: RATE, network: { perSecond: 1, burst: 4 * EACH }, proven: { perSecond: 1, burst: EACH } },
  })
})

function ask(
  query: TestQuery,
  client: Client = CLIENT,
  transport: 'udp' | 'tcp' = 'udp',
): Buffer | undefined {
  return responder.respond(dnsQuery(query), client, transport)
}

/** Whether it has an answer with records. */
function isAnswered(query: TestQuery, client: Client = CLIENT): boolean {
  const answer = ask(query, client)
  return answer !== undefined && readAnswer(answer).answers!.length > 0
}

const flooded = (queryOf: (index: number) => TestQuery, count: number = 20 * EACH): number =>
  Array.from({ length: count }, (_, index) => isAnswered(queryOf(index))).filter(Boolean).length

test('a flood of one name takes no answers of other names from the same network', () => {
  expect(flooded(() => ({ name: APEX }))).toBe(EACH)
  expect(isAnswered({ name: `shop.${APEX}` })).toBe(true)
  expect(isAnswered({ name: `any.${APEX}` })).toBe(true)
})

test('random names count as the wildcard that answers for them, also when their answers are kept', () => {
  const random = (index: number): TestQuery => ({ name: `r${index % 15}.${APEX}` })
  expect(flooded(random)).toBe(EACH)
  expect(isAnswered({ name: APEX })).toBe(true)
  expect(isAnswered({ name: `shop.${APEX}` })).toBe(true)
})

test('names that do not exist count as one, and not as the name above them', () => {
  for (let index = 0; index < 20 * EACH; index++) ask({ name: `r${index}.deep.${APEX}` })
  expect(ask({ name: `more.deep.${APEX}` }, CLIENT)).toBeUndefined()
  expect(readAnswer(ask({ name: `deep.${APEX}` }))).toMatchObject({ rcode: NOERROR })
})

test('errors count as one: other zones, and messages that cannot be read', () => {
  for (let index = 0; index < 20 * EACH; index++) ask({ name: `r${index}.example` })
  expect(responder.counts.queries.refused).toBe(EACH)
  const errors = [1, 2].map(() => ask({ counts: { questions: 2 } })).filter((answer) => answer !== undefined)
  expect(errors.map((answer) => answer.readUInt16BE(2) & 0x20f)).toEqual([FORMERR])
  expect(isAnswered({ name: APEX })).toBe(true)
})

test('all names together have a limit, which holds for that network alone', () => {
  for (let index = 0; index < 10; index++) zone.setText(`s${index}.${APEX}`, 'text')
  expect(flooded((index) => ({ name: `s${index % 10}.${APEX}` }))).toBe(4 * EACH)
  expect(isAnswered({ name: APEX })).toBe(false)
  expect(isAnswered({ name: APEX }, NEIGHBOUR)).toBe(true)
})

test('every second answer beyond a rate is sent without records, for each name and network by itself', () => {
  const limiter = new ResponseLimiter({ name: { perSecond: 1, burst: 1 } }, () => 0)
  const judge = (client: Client, source: number): Verdict => limiter.judge(client, () => source)
  expect([judge(CLIENT, 1), judge(CLIENT, 2), judge(NEIGHBOUR, 1)]).toEqual(['send', 'send', 'send'])
  // A flood at the same pace would otherwise take each answer of others that is sent.
  const others = Array.from({ length: 20 }, () => [judge(CLIENT, 1), judge(CLIENT, 2), judge(NEIGHBOUR, 1)])
  for (const index of [0, 1, 2])
    expect(others.filter((verdicts) => verdicts[index] === 'slip')).toHaveLength(10)
})

test('a network that shows cookies of ours or comes over TCP has a limit, too, and its neighbours notice nothing', () => {
  const cookie = cookieOf(ask({ edns: { options: [[COOKIE, Buffer.alloc(8)]] } }))!
  const withCookie = (name: string): TestQuery => ({ name, edns: { options: [[COOKIE, cookie]] } })
  expect(flooded((index) => withCookie(`r${index}.${APEX}`))).toBe(EACH)
  const beyond = [1, 2].map(() => ask(withCookie(APEX))).filter((answer) => answer !== undefined)
  expect(beyond.map((answer) => readAnswer(answer))).toMatchObject([{ rcode: REFUSED, answers: [] }])
  for (let count = 0; count < 10; count++)
    expect(readAnswer(ask({ name: APEX }, CLIENT, 'tcp'))).toMatchObject({ rcode: REFUSED, answers: [] })
  expect(readAnswer(ask({ name: APEX }, NEIGHBOUR, 'tcp')).answers).toHaveLength(1)
})
