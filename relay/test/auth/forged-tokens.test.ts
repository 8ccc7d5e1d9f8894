// Tests that forged tokens cost the relay's thread next to nothing, and keep no client out.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AUDIENCE } from '@svc/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { LeaseAuthorizer } from '../../src/core/auth/lease-authorizer.ts'
import { loadIdentity, type RelayIdentity } from '../../src/core/auth/relay-identity.ts'
import { TokenIssuer } from '../../src/core/auth/token-issuer.ts'
import type { UncheckedToken } from '../../src/core/auth/token-verifier.ts'
import type { TokenUse } from '../../src/core/auth/trusted-issuers.ts'
import type { Lease } from '../../src/core/lease/lease.ts'
import { newLease } from '../support/lease.ts'

/** More than are checked at once. */
const FORGERIES = 300

/** Counts the signatures that are checked, at some 0.6 ms each. */
class CountingTokens extends TokenIssuer {
  checks = 0

  override read(token: string, use: TokenUse): UncheckedToken | undefined {
    const read = super.read(token, use)
    return (
      read && {
        ...read,
        isSigned: () => {
          if (!read.isChecked) this.checks += 1
          return read.isSigned()
        },
      }
    )
  }
}

let directory: string
let identity: RelayIdentity
let tokens: CountingTokens
let lease: Lease
let admissions: LeaseAuthorizer

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-forged-'))
  identity = await loadIdentity(directory)
})
afterAll(() => rm(directory, { recursive: true }))
beforeEach(() => {
  // No time passes: none of those that were spent comes back.
  vi.useFakeTimers({ toFake: ['performance'] })
  tokens = new CountingTokens(identity, 'https://relay.localhost')
  lease = newLease()
  admissions = new LeaseAuthorizer(tokens, { find: (_identity, id) => (id === lease.id ? lease : undefined) })
})

afterEach(() => void vi.useRealTimers())

/** The claims of a genuine token, under a signature that nobody made. */
function forge(token: string, number: number): string {
  const signature = Buffer.alloc(64, 1)
  signature.writeUInt32BE(number, 0)
  return [...token.split('.').slice(0, 2), signature.toString('base64url')].join('.')
}

function codeOf(token: string): string {
  try {
    admissions.leaseOf(token, 'lease')
    return 'admitted'
  } catch (error) {
    return (error as { code: string }).code
  }
}

test('of tokens that name no active lease 200 are checked at once; the others are told what is certain', () => {
  const stale = tokens.issue(newLease(), AUDIENCE.lease)
  const codes = Array.from({ length: FORGERIES }, (_, i) => codeOf(forge(stale, i)))
  expect(codes[0]).toBe('unauthorized')
  expect(codes.at(-1)).toBe('lease_not_found')
  expect(tokens.checks).toBe(200)
  expect(codeOf(stale)).toBe('lease_not_found')
  expect(codeOf(tokens.issue(lease, AUDIENCE.lease))).toBe('admitted')
})

test('of tokens that name an active lease 100 forged ones are checked at once, and none is ever admitted', () => {
  const known = tokens.issue(lease, AUDIENCE.lease)
  expect(codeOf(known)).toBe('admitted')
  tokens.checks = 0
  const codes = Array.from({ length: FORGERIES }, (_, i) => codeOf(forge(known, i)))
  expect(new Set(codes)).toEqual(new Set(['unauthorized']))
  expect(tokens.checks).toBe(100)
  expect(codeOf(known)).toBe('admitted')
})

test.each<[what: string, change: (claims: Record<string, unknown>) => unknown]>([
  ['of another relay', (claims) => ({ ...claims, iss: 'https://other.example' })],
  ['for another use', (claims) => ({ ...claims, aud: AUDIENCE.reverse })],
  ['out of time', (claims) => ({ ...claims, exp: 1 })],
  ['not of its time yet', (claims) => ({ ...claims, nbf: 4_000_000_000 })],
  ['of nobody', ({ identity: _identity, ...claims }) => claims],
  ['of two identities', (claims) => ({ ...claims, sub: `other:0x${'cd'.repeat(20)}` })],
  ['of no lease', ({ lease_id: _id, ...claims }) => claims],
  ['with a time that is text', (claims) => ({ ...claims, exp: '4000000000' })],
  ['that is a list', () => []],
  ['that is nothing', () => null],
])('a token %s is refused without a look at its signature', (_what, change) => {
  const [header, payload, signature] = tokens.issue(lease, AUDIENCE.lease).split('.')
  const claims = JSON.parse(Buffer.from(payload!, 'base64url').toString())
  const changed = Buffer.from(JSON.stringify(change(claims))).toString('base64url')
  expect(codeOf(`${header}.${changed}.${signature}`)).toBe('unauthorized')
  expect(tokens.checks).toBe(0)
})
