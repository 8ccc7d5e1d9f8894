// Whether CAA records protect a domain, as an authority would read them, and answers of DNS over HTTPS.

import { describe, expect, it } from 'vitest'
import { encodeQuestion, parseAnswer } from '../../src/domains/dns-over-https.ts'
import {
  type CaaAnswer,
  caaAccount,
  caaAnswer,
  caaProblem,
  caaValue,
  whyUnprotected,
} from '../../src/domains/protection.ts'

const ACCOUNT = 'https://acme.test/acct/1'
const IDENTITY = { account: ACCOUNT, authorities: ['acme.test'] }
const MINE = `acme.test; accounturi=${ACCOUNT}; validationmethods=tls-alpn-01`

function why(records: Record<string, Partial<CaaAnswer>>): Promise<string | undefined> {
  const ask = async (name: string): Promise<CaaAnswer> => ({
    isAlias: false,
    issue: undefined,
    ...records[name],
  })
  return whyUnprotected('shop.example.org', IDENTITY, ask, new AbortController().signal)
}

describe('CAA (RFC 8659, RFC 8657)', () => {
  it('protects a domain where its records, or those of the next name above, allow the account alone', async () => {
    expect(await why({ 'shop.example.org': { issue: [MINE] } })).toBeUndefined()
    expect(await why({ 'example.org': { issue: [MINE, ';'] } })).toBeUndefined()
    expect(await why({ org: { issue: [`ACME.test;accounturi=${ACCOUNT}`] } })).toBeUndefined()
  })

  it('protects a domain whose record names no method: only who has the key of the account can use one', async () => {
    const byAccount = `acme.test; accounturi=${ACCOUNT}`
    expect(await why({ 'shop.example.org': { issue: [byAccount] } })).toBeUndefined()
    // A record for another account makes any method one of somebody else, whatever it is limited to.
    const other = 'acme.test; accounturi=https://acme.test/2; validationmethods=tls-alpn-01'
    expect(await why({ 'shop.example.org': { issue: [byAccount, other] } })).toMatch(/another account/)
  })

  it.each<[string, Record<string, Partial<CaaAnswer>>, RegExp]>([
    ['no record at all', {}, /no CAA record: any authority/],
    [
      'an alias, whose target the relay sets',
      { 'shop.example.org': { isAlias: true, issue: [MINE] } },
      /CNAME/,
    ],
    [
      'an alias below a protected name',
      { 'shop.example.org': { isAlias: true }, org: { issue: [MINE] } },
      /CNAME/,
    ],
    ['no issue property', { org: { issue: [] } }, /no issue property/],
    ['every account', { org: { issue: ['acme.test'] } }, /lets every account at acme.test issue/],
    [
      'another account',
      { org: { issue: [MINE, 'acme.test; accounturi=https://acme.test/2'] } },
      /another account/,
    ],
    ['another authority beside', { org: { issue: [MINE, 'other.test'] } }, /every account at other.test/],
    [
      'another authority that may ignore the account',
      { org: { issue: [MINE, `other.test; accounturi=${ACCOUNT}`] } },
      /another authority issue: other.test/,
    ],
    ['two account URIs', { org: { issue: [`${MINE}; accounturi=${ACCOUNT}`] } }, /every account/],
    ['nobody', { org: { issue: [';'] } }, /lets this site's own authority issue/],
    [
      'another method of proof alone',
      { org: { issue: [`acme.test; accounturi=${ACCOUNT}; ValidationMethods=dns-01,http-01`] } },
      /needs validationmethods=tls-alpn-01/,
    ],
    ['a critical property', { org: { issue: [MINE], critical: ['future'] } }, /tag future: no authority/],
    [
      'an alias above, whose target others may set',
      { 'example.org': { isAlias: true, issue: [MINE] }, org: { issue: [MINE] } },
      /example.org is an alias/,
    ],
    [
      'the nearer record first',
      { 'example.org': { issue: ['acme.test'] }, org: { issue: [MINE] } },
      /every account/,
    ],
  ])('does not protect with %s', async (_name, records, reason) => {
    expect(await why(records)).toMatch(reason)
  })

  it('protects a domain by one of several methods, beside records for wildcards, and by each account of the site', async () => {
    const methods = `acme.test; accounturi = ${ACCOUNT} ; validationmethods=dns-01, tls-alpn-01`
    expect(await why({ org: { issue: [methods] } })).toBeUndefined()
    const properties = [
      { flags: 128, tag: 'Issue', value: MINE },
      { flags: 0, tag: 'issuewild', value: 'other.test' },
      { flags: 0, tag: 'future', value: 'x' },
    ]
    expect(await why({ org: caaAnswer(false, properties) })).toBeUndefined()
    const second = { account: 'https://acme.test/2', authorities: ['acme.test'] }
    const issue = [MINE, 'acme.test; accounturi=https://acme.test/2']
    expect(caaProblem('org', { isAlias: false, issue }, [IDENTITY, second])).toBeUndefined()
    expect(caaAccount(MINE)).toEqual(IDENTITY)
  })

  it('prints the record to set', () => {
    expect(caaValue(IDENTITY)).toBe(`0 issue "${MINE}"`)
    expect(caaValue({ ...IDENTITY, authorities: [] })).toBeUndefined()
  })
})

describe('DNS over HTTPS (RFC 8484, RFC 1035)', () => {
  const encoder = new TextEncoder()
  const name = (text: string): Buffer =>
    Buffer.concat([
      ...text.split('.').map((label) => Buffer.from([label.length, ...encoder.encode(label)])),
      Buffer.of(0),
    ])
  const question = Buffer.concat([name('shop.example.org'), Buffer.of(1, 1, 0, 1)])
  /** A record of the name in the question, to which a pointer leads. */
  const record = (type: number, data: Buffer): Buffer =>
    Buffer.concat([Buffer.of(0xc0, 12, type >> 8, type & 0xff, 0, 1, 0, 0, 0, 60, 0, data.length), data])
  const caa = (tag: string, value: string): Buffer =>
    record(257, Buffer.concat([Buffer.of(0, tag.length), Buffer.from(tag + value)]))
  const answered = (records: Buffer[], code = 0): Uint8Array =>
    Buffer.concat([
      Buffer.of(0, 0, 0x81, 0x80 | code, 0, 1, 0, records.length, 0, 0, 0, 0),
      question,
      ...records,
    ])

  it('asks for CAA with the identifier 0', () => {
    const header = Buffer.of(0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0)
    expect(Buffer.from(encodeQuestion('shop.example.org'))).toEqual(Buffer.concat([header, question]))
  })

  it('reads records, aliases and their absence', () => {
    expect(parseAnswer(answered([caa('ISSUE', MINE), caa('iodef', 'mailto:a@b.c')]))).toEqual({
      isAlias: false,
      issue: [MINE],
    })
    const critical = record(257, Buffer.concat([Buffer.of(128, 6), Buffer.from('futurex')]))
    expect(parseAnswer(answered([critical]))).toEqual({ isAlias: false, issue: [], critical: ['future'] })
    const alias = record(5, name('relay.test'))
    expect(parseAnswer(answered([alias, caa('iodef', 'x')]))).toEqual({ isAlias: true, issue: [] })
    expect(parseAnswer(answered([]))).toEqual({ isAlias: false, issue: undefined })
    expect(parseAnswer(answered([], 3))).toEqual({ isAlias: false, issue: undefined })
  })

  it('refuses failures, and what is cut at any byte or runs in circles', () => {
    expect(() => parseAnswer(answered([], 2))).toThrow(/failed with code 2/)
    const whole = answered([caa('issue', MINE)])
    const truncated = Uint8Array.from(whole)
    truncated[2]! |= 2
    expect(() => parseAnswer(truncated)).toThrow(/cut short/)
    for (let length = 0; length < whole.length; length++)
      expect(() => parseAnswer(whole.subarray(0, length))).toThrow()
    const endless = new Uint8Array(600).fill(1)
    endless[3] = 0
    expect(() => parseAnswer(endless)).toThrow()
  })
})
