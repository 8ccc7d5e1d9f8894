// Lease tokens and capabilities (RFC 7519, RFC 8812): only the relay's own, for the one purpose, in time.

import { verify } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AUDIENCE } from '@svc/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { loadIdentity, type RelayIdentity } from '../../src/core/auth/relay-identity.ts'
import { TokenIssuer } from '../../src/core/auth/token-issuer.ts'
import { now } from '../../src/core/clock.ts'
import type { Lease } from '../../src/core/lease/lease.ts'
import { newLease } from '../support/lease.ts'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const identity = { name: 'demo', address: `0x${'ab'.repeat(20)}` }

describe('Tokens', () => {
  let directory: string
  let relay: RelayIdentity
  let tokens: TokenIssuer
  let lease: Lease
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-tokens-'))
    relay = await loadIdentity(directory)
    tokens = new TokenIssuer(relay, 'https://relay.localhost')
    lease = newLease()
  })
  afterAll(() => rm(directory, { recursive: true }))
  afterEach(() => vi.useRealTimers())

  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

  test('a lease token carries the claims of the contract and verifies with the relay key (protocol §5.1.1, §5.1.2)', () => {
    const token = tokens.issue(lease, AUDIENCE.lease)
    const [header, payload, signature] = token.split('.') as [string, string, string]
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'ES256K', typ: 'JWT' })
    const key = { key: relay.publicKey, dsaEncoding: 'ieee-p1363' } as const
    const signed = Buffer.from(`${header}.${payload}`)
    expect(verify('sha256', signed, key, Buffer.from(signature, 'base64url'))).toBe(true)
    expect(tokens.verify(token, 'lease')).toMatchObject({
      iss: 'https://relay.localhost',
      sub: `demo:${identity.address}`,
      aud: 'svc-sdk',
      jti: expect.stringMatching(/^tok_/),
      identity,
      lease_id: lease.id,
    })
  })

  test('the process that issued a token knows its signature, and every other one of the relay finds it good', () => {
    const other = new TokenIssuer(relay, 'https://relay.localhost')
    for (let issued = 0; issued < 32; issued++) {
      const token = tokens.issue(lease, AUDIENCE.reverse)
      expect(tokens.read(token, 'reverse')?.isChecked).toBe(true)
      expect(other.read(token, 'reverse')?.isChecked).toBe(false)
      expect(other.verify(token, 'reverse')).toEqual(tokens.verify(token, 'reverse'))
    }
  })

  test('the two kinds are not interchangeable (protocol §5.1.3)', () => {
    expect(tokens.verify(tokens.issue(lease, AUDIENCE.lease), 'reverse')).toBeUndefined()
    expect(tokens.verify(tokens.issue(lease, AUDIENCE.reverse), 'lease')).toBeUndefined()
    const shown = tokens.issue(lease, AUDIENCE.reverse)
    expect(tokens.verify(shown, 'reverse')).toBeDefined()
    expect(tokens.verify(shown, 'lease')).toBeUndefined()
  })

  test('a token dies with its lease, to the second (protocol §5.1.4)', () => {
    vi.useFakeTimers()
    const lease = newLease()
    const token = tokens.issue(lease, AUDIENCE.lease)
    // The claims are in whole seconds.
    vi.advanceTimersByTime(lease.expiresAt - now() - 1001)
    expect(tokens.verify(token, 'lease')).toBeDefined()
    vi.advanceTimersByTime(1001)
    expect(tokens.verify(token, 'lease')).toBeUndefined()
  })

  test('a relay of another URL, or with another key, is another issuer', async () => {
    const token = tokens.issue(lease, AUDIENCE.lease)
    expect(new TokenIssuer(relay, 'https://other.localhost').verify(token, 'lease')).toBeUndefined()
    const other = await loadIdentity(join(directory, 'other'))
    expect(new TokenIssuer(other, 'https://relay.localhost').verify(token, 'lease')).toBeUndefined()
  })

  test.each<[string, (header: string, payload: string, signature: string) => string]>([
    ['algorithm none', (_h, p) => `${part({ alg: 'none', typ: 'JWT' })}.${p}.`],
    ['another algorithm', (_h, p, s) => `${part({ alg: 'HS256', typ: 'JWT' })}.${p}.${s}`],
    ['changed claims', (h, p, s) => `${h}.${p.slice(0, -2)}AA.${s}`],
    ['a padded signature', (h, p, s) => `${h}.${p}.${s}==`],
    ['a shorter signature', (h, p, s) => `${h}.${p}.${s.slice(0, -4)}`],
    ['a fourth part', (h, p, s) => `${h}.${p}.${s}.${s}`],
    ['no signature', (h, p) => `${h}.${p}`],
    ['nothing', () => ''],
    ['5,000 characters', (h, p, s) => `${h}.${p}${'A'.repeat(5000)}.${s}`],
    ['the other s of the same signature', (h, p, s) => `${h}.${p}.${otherS(s)}`],
  ])('%s is refused', (_name, change) => {
    const token = tokens.issue(lease, AUDIENCE.lease)
    // A good signature is remembered: of this token, and of no other.
    expect(tokens.verify(token, 'lease')).toBeDefined()
    const [header, payload, signature] = token.split('.') as [string, string, string]
    expect(tokens.verify(change(header, payload, signature), 'lease')).toBeUndefined()
  })

  test('signatures use the lower s, so that each token has one spelling', () => {
    for (let i = 0; i < 32; i++) {
      const token = tokens.issue(lease, AUDIENCE.lease)
      expect(tokens.verify(token, 'lease')).toBeDefined()
    }
  })
})

function otherS(signature: string): string {
  const bytes = Buffer.from(signature, 'base64url')
  const s = BigInt(`0x${bytes.subarray(32).toString('hex')}`)
  bytes.write((ORDER - s).toString(16).padStart(64, '0'), 32, 'hex')
  return bytes.toString('base64url')
}
