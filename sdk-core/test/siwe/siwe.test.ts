// Sign-In with Ethereum by the public vectors of EIP-4361, which relay/test/vectors/siwe/README.md names.

import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import parsingNegative from '../../../relay/test/vectors/siwe/parsing_negative.json' with { type: 'json' }
import parsingPositive from '../../../relay/test/vectors/siwe/parsing_positive.json' with { type: 'json' }
import verificationNegative from '../../../relay/test/vectors/siwe/verification_negative.json' with {
  type: 'json',
}
import verificationPositive from '../../../relay/test/vectors/siwe/verification_positive.json' with {
  type: 'json',
}
import { parseSiwe, SIWE_MAX_CHARS, type SiweMessage, verifySiwe } from '../../src/siwe/index.ts'

/** The suite lists these two texts as wrong, and nothing in them is: `_` may be in a name (RFC 3986 §3.2.2), and the version is 1. */
const RIGHT_BY_THE_GRAMMAR: readonly string[] = ['domain not RFC4501 authority', 'version not 1']

const FULL: SiweMessage = {
  scheme: 'https',
  domain: 'site.example:4433',
  address: '0xe5A12547fe4E872D192E3eCecb76F2Ce1aeA4946',
  statement: "It's all right: reserved / unreserved (and spaces)!",
  uri: 'https://site.example:4433/a%20b?c=d#e',
  chainId: 11155111,
  nonce: 'abcDEF123',
  issuedAt: '2026-02-28T23:59:60.123456789+01:30',
  expirationTime: '2026-02-28t23:59:59z',
  notBefore: '2024-02-29T00:00:00-12:00',
  requestId: 'a:b@c%20',
  resources: [
    'ipfs://Qme7ss3ARVgxv6rXqVPiikMJ8u2NLgmgszg13pYrDKEoiu',
    'urn:x',
    'file:///a',
    'http://[::1]:80/',
  ],
}

/** The text of a message with all the fields that EIP-4361 has. */
function textOf(message: SiweMessage): string {
  const { scheme, domain, address, statement, resources } = message
  const fields = [
    ['URI', message.uri],
    ['Version', 1],
    ['Chain ID', message.chainId],
    ['Nonce', message.nonce],
    ['Issued At', message.issuedAt],
    ['Expiration Time', message.expirationTime],
    ['Not Before', message.notBefore],
    ['Request ID', message.requestId],
  ]
  const origin = scheme === undefined ? domain : `${scheme}://${domain}`
  return [
    `${origin} wants you to sign in with your Ethereum account:`,
    address,
    '',
    ...(statement === undefined ? [''] : [statement, '']),
    ...fields.filter(([, value]) => value !== undefined).map((field) => field.join(': ')),
    ...(resources === undefined ? [] : ['Resources:', ...resources.map((uri) => `- ${uri}`)]),
  ].join('\n')
}

describe('parsing (EIP-4361, ABNF message format)', () => {
  test.each(Object.entries(parsingPositive))('parsing_positive: %s', (_name, { message, fields }) => {
    const { version, chainId, ...others } = fields
    expect(version).toBe('1')
    const parsed = parseSiwe(message)
    expect(parsed).toEqual({ ...others, chainId: Number(chainId) })
    expect(textOf(parsed!)).toBe(message)
  })

  test.each(Object.entries(parsingNegative))('parsing_negative: %s', (name, text) => {
    if (RIGHT_BY_THE_GRAMMAR.includes(name)) expect(textOf(parseSiwe(text)!)).toBe(text)
    else expect(parseSiwe(text)).toBeUndefined()
  })

  test('every field, and each of the optional ones alone', () => {
    expect(parseSiwe(textOf(FULL))).toEqual(FULL)
    for (const name of [
      'scheme',
      'statement',
      'expirationTime',
      'notBefore',
      'requestId',
      'resources',
    ] as const) {
      const without = { ...FULL, [name]: undefined }
      expect(parseSiwe(textOf(without))).toEqual(without)
    }
    for (const more of [{ requestId: '' }, { resources: [] }])
      expect(parseSiwe(textOf({ ...FULL, ...more }))).toEqual({ ...FULL, ...more })
  })

  test.each<[string, Partial<SiweMessage>]>([
    ['a line end in the statement', { statement: 'one\ntwo' }],
    ['a quotation mark in the statement', { statement: 'say "yes"' }],
    ['a letter outside ASCII in the statement', { statement: 'schön' }],
    ['a percent sign in the statement', { statement: '100%' }],
    ['a space in the domain', { domain: 'site .example' }],
    ['a path in the domain', { domain: 'site.example/path' }],
    ['an invalid IP literal', { domain: '[1:2]' }],
    ['a port that is no number', { domain: 'site.example:https' }],
    ['a broken percent encoding', { uri: 'https://site.example/%2' }],
    ['two fragments', { uri: 'https://site.example/#a#b' }],
    ['a relative reference', { uri: '/path' }],
    ['a space in a URI', { uri: 'https://site.example/a b' }],
    ['a chain that is no number', { chainId: Number.NaN }],
    ['a chain below zero', { chainId: -1 }],
    ['a chain above 2^53', { chainId: 2 ** 53 }],
    ['a nonce with a hyphen', { nonce: 'abcdefg-h' }],
    ['a nonce of 7 characters', { nonce: 'abcdefg' }],
    ['a day that February does not have', { issuedAt: '2026-02-29T00:00:00Z' }],
    ['the thirteenth month', { issuedAt: '2026-13-01T00:00:00Z' }],
    ['the twenty-fifth hour', { expirationTime: '2026-01-01T24:00:00Z' }],
    ['a time without its zone', { notBefore: '2026-01-01T00:00:00' }],
    ['a request id with a slash', { requestId: 'a/b' }],
    ['an invalid resource', { resources: ['not a uri'] }],
    ['an address in upper case', { address: FULL.address.toUpperCase().replace('X', 'x') }],
    ['an address with one letter in the other case', { address: FULL.address.replace('A12', 'a12') }],
    ['a scheme with a digit before', { scheme: '1http' }],
  ])('%s is refused', (_what, change) => expect(parseSiwe(textOf({ ...FULL, ...change }))).toBeUndefined())

  test('a line more, a carriage return, or a text after a heading is refused', () => {
    const text = textOf(FULL)
    const shortest = textOf({ ...FULL, resources: undefined })
    for (const wrong of [`${text}\n`, `\n${text}`, text.replaceAll('\n', '\r\n'), `${text}\nMore: 1`])
      expect(parseSiwe(wrong)).toBeUndefined()
    expect(parseSiwe(`${shortest}\nResources:x`)).toBeUndefined()
    expect(parseSiwe(text.replace('Nonce', 'nonce'))).toBeUndefined()
  })

  test(`a message of more than ${SIWE_MAX_CHARS} characters is refused`, () => {
    const fits = {
      ...FULL,
      statement: 'a'.repeat(SIWE_MAX_CHARS - textOf({ ...FULL, statement: '' }).length),
    }
    expect(textOf(fits)).toHaveLength(SIWE_MAX_CHARS)
    expect(parseSiwe(textOf(fits))).toEqual(fits)
    expect(parseSiwe(textOf({ ...fits, statement: `${fits.statement}a` }))).toBeUndefined()
  })
})

interface Vector {
  domain: string
  address: string
  statement: string
  uri: string
  chainId: number
  nonce: string
  issuedAt: string
  expirationTime?: string
  notBefore?: string
  signature: string
  /** The time of the check, the domain and the nonce of the challenge, where they are not the message's. */
  time?: string
  domainBinding?: string
  matchNonce?: string
}

function check(vector: Vector) {
  const { signature, time, domainBinding, matchNonce, ...fields } = vector
  const now = time === undefined ? Date.now() : Date.parse(time)
  const expected = { domain: domainBinding ?? fields.domain, nonce: matchNonce ?? fields.nonce, now }
  return verifySiwe(textOf(fields), signature, expected)
}

describe('verification', () => {
  test.each(Object.entries(verificationPositive))('verification_positive: %s', async (_name, vector) => {
    expect(await check(vector)).toMatchObject({ message: { address: vector.address } })
  })

  test.each([
    ['expired message', 'expired'],
    ['domain binding', 'wrong_domain'],
    ['custom time', 'expired'],
    ['custom nonce', 'wrong_nonce'],
    ['malformed signature', 'wrong_signature'],
    ['wrong signature', 'wrong_signature'],
    ['not yet valid', 'not_yet_valid'],
  ] as const)('verification_negative: %s is %s', async (name, refusal) => {
    expect(await check(verificationNegative[name])).toEqual({ refusal })
  })

  const account = privateKeyToAccount(generatePrivateKey())
  const own = {
    ...FULL,
    address: account.address,
    expirationTime: '2026-01-01T00:02:00Z',
    notBefore: undefined,
  }
  const expected = { domain: own.domain, nonce: own.nonce, now: Date.parse('2026-01-01T00:00:00Z') }

  test.each<[string, object]>([
    ['uri', { uri: 'https://other.example/' }],
    ['chain', { chainId: 1 }],
    ['statement', { statement: 'another' }],
    ['request id', { requestId: 'another' }],
    ['address', { address: FULL.address }],
  ])('another %s than expected is a mismatch', async (_what, other) => {
    const text = textOf(own)
    const signature = await account.signMessage({ message: text })
    const { uri, chainId, statement, requestId, address } = own
    const all = { ...expected, uri, chainId, statement, requestId, address: address.toLowerCase() }
    expect(await verifySiwe(text, signature, all)).toMatchObject({ message: own })
    expect(await verifySiwe(text, signature, { ...all, ...other })).toEqual({ refusal: 'mismatch' })
  })

  test.each([27, 28, 0, 1, 2, 26, 29, 255])(
    'v is %i: the message is signed where viem says so',
    async (v) => {
      const text = textOf(own)
      const made = await account.signMessage({ message: text })
      const right = Number.parseInt(made.slice(-2), 16)
      const result = await verifySiwe(text, made.slice(0, -2) + v.toString(16).padStart(2, '0'), expected)
      expect(result.refusal === undefined).toBe(v === right || v === right - 27)
    },
  )

  test.each([
    '',
    '0x',
    'signature',
    `0x${'0'.repeat(130)}`,
    `0x${'f'.repeat(130)}`,
    `0x${'1'.repeat(20_000)}`,
  ])('a signature that nobody made is refused: %#', async (signature) => {
    expect(await verifySiwe(textOf(own), signature, expected)).toEqual({ refusal: 'wrong_signature' })
  })
})
