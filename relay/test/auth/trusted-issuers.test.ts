// The table of issuers and audiences: a row more admits a gateway's delegated capability (wire, "Tokens"), for that one
// use, from that one issuer.

import { type KeyObject, sign } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { LeaseAuthorizer } from '../../src/core/auth/lease-authorizer.ts'
import { loadIdentity, type RelayIdentity } from '../../src/core/auth/relay-identity.ts'
import { TokenIssuer } from '../../src/core/auth/token-issuer.ts'
import { TokenVerifier } from '../../src/core/auth/token-verifier.ts'
import { ownTokens, type TrustedIssuer, type TrustedIssuers } from '../../src/core/auth/trusted-issuers.ts'
import { newLease } from '../support/lease.ts'

const GATEWAY = 'https://gateway.example'
const INGRESS = 'https://ingress.example'
const DELEGATED = 'svc-overlay-reverse'

let directory: string
let gateway: RelayIdentity
let ingress: RelayIdentity
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-issuers-'))
  gateway = await loadIdentity(join(directory, 'gateway'))
  ingress = await loadIdentity(join(directory, 'ingress'))
})
afterAll(() => rm(directory, { recursive: true }))

const lease = newLease()

/** A token of `issuer` with these claims, with the lower `s` that all tokens have. */
function delegated(issuer: RelayIdentity, changed: object = {}): string {
  const { name, address } = lease.identity
  const claims = {
    iss: INGRESS,
    sub: `${name}:${address}`,
    aud: DELEGATED,
    jti: 'tok_1',
    iat: 0,
    nbf: 0,
    exp: 4_000_000_000,
    identity: lease.identity,
    lease_id: lease.id,
    ingress: ingress.address,
    gateway: gateway.address,
    ...changed,
  }
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const input = `${encode({ alg: 'ES256K', typ: 'JWT' })}.${encode(claims)}`
  for (;;) {
    const key = { key: issuer.privateKey, dsaEncoding: 'ieee-p1363' } as const
    const signature = sign('sha256', Buffer.from(input), key)
    if (signature[32]! < 0x7f) return `${input}.${signature.toString('base64url')}`
  }
}

/** What a gateway takes: its own tokens, and those that this ingress delegated to it. */
function table(publicKey: KeyObject): Map<string, TrustedIssuer> {
  const accepts = (claims: object) => 'gateway' in claims && claims.gateway === gateway.address
  return new Map([
    ...ownTokens(GATEWAY, gateway.publicKey),
    [INGRESS, { publicKey, audiences: new Map([[DELEGATED, { use: 'reverse', accepts }]]) }],
  ])
}

describe('a relay that trusts itself alone', () => {
  test.each([
    ['of another issuer', {}],
    ['of an audience that is not in the table', { iss: GATEWAY }],
    ['of no audience', { iss: GATEWAY, aud: undefined }],
    ['of several audiences', { iss: GATEWAY, aud: ['svc-sdk', 'svc-reverse'] }],
    ['of an audience that every object has', { iss: GATEWAY, aud: 'constructor' }],
  ])('refuses a token %s, whoever signed it', (_what, claims) => {
    const tokens = new TokenVerifier(ownTokens(GATEWAY, gateway.publicKey))
    for (const use of ['lease', 'reverse'] as const)
      expect(tokens.read(delegated(gateway, claims), use)).toBeUndefined()
  })
})

describe('with a row for an ingress', () => {
  let issuers: Map<string, TrustedIssuer>
  let tokens: TokenVerifier
  beforeEach(() => {
    issuers = table(ingress.publicKey)
    tokens = new TokenVerifier(issuers)
  })

  test('its delegated capability is taken, for its one use', () => {
    const token = delegated(ingress)
    expect(tokens.verify(token, 'lease')).toBeUndefined()
    expect(tokens.verify(token, 'reverse')).toMatchObject({ ingress: ingress.address, lease_id: lease.id })
    expect(tokens.verify(token, 'lease')).toBeUndefined()
  })

  test('and stands for the lease that it names', () => {
    const leases = { find: (_identity: object, id: string) => (id === lease.id ? lease : undefined) }
    const authorizer = new LeaseAuthorizer(tokens, leases)
    expect(authorizer.leaseOf(delegated(ingress), 'reverse')).toBe(lease)
    expect(() => authorizer.leaseOf(delegated(ingress), 'lease')).toThrow('not valid')
  })

  test.each<[string, object]>([
    ['a lease token', { aud: 'svc-sdk' }],
    ['an ordinary reverse capability', { aud: 'svc-reverse' }],
    ['a capability for another gateway', { gateway: `0x${'1'.repeat(40)}` }],
    ['a capability without a gateway', { gateway: undefined }],
  ])('it cannot make %s', (_what, claims) => {
    for (const use of ['lease', 'reverse'] as const)
      expect(tokens.verify(delegated(ingress, claims), use)).toBeUndefined()
  })

  test('each issuer has its own key', () => {
    expect(tokens.verify(delegated(gateway), 'reverse')).toBeUndefined()
    expect(tokens.verify(delegated(ingress, { iss: GATEWAY, aud: 'svc-reverse' }), 'reverse')).toBeUndefined()
    expect(tokens.verify(delegated(gateway, { iss: GATEWAY, aud: 'svc-reverse' }), 'reverse')).toBeDefined()
  })

  test('a signature that was checked counts for the key that it was checked with, and for no other', () => {
    const token = delegated(ingress)
    expect(tokens.verify(token, 'reverse')).toBeDefined()
    expect(tokens.read(token, 'reverse')?.isChecked).toBe(true)
    issuers.set(INGRESS, table(gateway.publicKey).get(INGRESS)!)
    expect(tokens.read(token, 'reverse')?.isChecked).toBe(false)
    expect(tokens.verify(token, 'reverse')).toBeUndefined()
    issuers.delete(INGRESS)
    expect(tokens.read(token, 'reverse')).toBeUndefined()
    issuers.set(INGRESS, table(ingress.publicKey).get(INGRESS)!)
    expect(tokens.verify(token, 'reverse')).toBeDefined()
  })
})

test('an issuer of tokens takes others by the same table', () => {
  const issuers: TrustedIssuers = table(ingress.publicKey)
  const tokens = new TokenIssuer(gateway, GATEWAY, issuers)
  expect(tokens.verify(tokens.issue(lease, 'svc-sdk'), 'lease')).toBeDefined()
  expect(tokens.verify(delegated(ingress), 'reverse')).toBeDefined()
})
