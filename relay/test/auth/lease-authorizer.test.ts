// Every endpoint that takes a token, attacked with every token that is not its own: the documented code, nothing changed.

import { createPrivateKey, sign } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { newAccount, startTestRelay } from '../support/relay.ts'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const tokens: Record<string, string> = {}

const decode = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString())
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

const relay = useStarted(startTestRelay)
const other = useStarted(startTestRelay)
beforeAll(async () => {
  const account = newAccount()
  const replaced = await relay.register('victim', { account })
  const { access_token: good, reverse_endpoint } = await relay.register('victim', { account })
  const [header, payload, signature = ''] = good.split('.')
  const bytes = Buffer.from(signature, 'base64url')
  const highS = ORDER - BigInt(`0x${bytes.subarray(32).toString('hex')}`)
  const malleated = Buffer.concat([
    bytes.subarray(0, 32),
    Buffer.from(highS.toString(16).padStart(64, '0'), 'hex'),
  ])
  const stranger = await other.register('victim', { account })
  Object.assign(tokens, {
    good,
    replaced: replaced.access_token,
    capability: reverse_endpoint.capability,
    'of another relay': stranger.access_token,
    'algorithm none': `${encode({ alg: 'none', typ: 'JWT' })}.${payload}.`,
    'algorithm HS256': `${encode({ alg: 'HS256', typ: 'JWT' })}.${payload}.${signature}`,
    'high s': `${header}.${payload}.${malleated.toString('base64url')}`,
    'signature in DER': `${header}.${payload}.${sign('sha256', Buffer.from(`${header}.${payload}`), key()).toString('base64url')}`,
    'signature of zeros': `${header}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
    'later expiry': `${header}.${encode({ ...decode(payload), exp: 4_000_000_000 })}.${signature}`,
    'another identity': `${header}.${encode({ ...decode(payload), sub: `x:0x${'0'.repeat(40)}` })}.${signature}`,
    'stray space': `${good} x`,
    'not base64url': `${header}.${payload}.${signature.slice(0, -1)}!`,
    'nothing at all': '',
    'a long one': 'a'.repeat(8000),
  })
})

/** Some other secp256k1 key. */
function key() {
  const privateKey = Buffer.alloc(32, 7)
  const der = Buffer.concat([
    Buffer.from('302e0201010420', 'hex'),
    privateKey,
    Buffer.from('a00706052b8104000a', 'hex'),
  ])
  return createPrivateKey({ key: der, format: 'der', type: 'sec1' })
}

const BODY = ['/sdk/renew', '/sdk/reverse', '/sdk/unregister']
const HEADER: [string, string][] = [
  ['POST', '/v1/sign'],
  ['POST', '/sdk/cache'],
  ['DELETE', '/sdk/cache'],
]

async function codes(token: string): Promise<string[]> {
  const answers = [
    ...BODY.map((path) => relay.call('POST', path, { access_token: token })),
    ...HEADER.map(([method, path]) =>
      relay.call(method, path, method === 'POST' ? '{}' : undefined, { 'X-Svc-Access-Token': token }),
    ),
  ]
  return (await Promise.all(answers)).map(({ status, json }) => {
    const { error } = json as { error?: { code?: string } }
    return `${status} ${error?.code}`
  })
}

describe('a token', () => {
  test.each([
    'capability',
    'of another relay',
    'algorithm none',
    'algorithm HS256',
    'high s',
    'signature in DER',
    'signature of zeros',
    'later expiry',
    'another identity',
    'stray space',
    'not base64url',
    'nothing at all',
    'a long one',
  ])('(%s) is unauthorized everywhere', async (name) => {
    expect(new Set(await codes(tokens[name] ?? ''))).toEqual(new Set(['403 unauthorized']))
  })

  test('(of a replaced instance) finds no lease anywhere', async () => {
    expect(new Set(await codes(tokens.replaced ?? ''))).toEqual(new Set(['404 lease_not_found']))
  })

  test('(the right one) still works after all that', async () => {
    expect(await relay.call('POST', '/sdk/renew', { access_token: tokens.good })).toMatchObject({
      status: 200,
    })
  })
})
