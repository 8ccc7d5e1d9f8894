// A gateway takes delegated capabilities of peers alone, each by the key of its own identity.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AUDIENCE } from '@svc/protocol'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { loadIdentity, type RelayIdentity } from '../../src/core/auth/relay-identity.ts'
import { TokenIssuer } from '../../src/core/auth/token-issuer.ts'
import { IngressIdentities } from '../../src/features/overlay/gateways/ingress-identities.ts'
import type { OverlayNetwork } from '../../src/features/overlay/overlay-network.ts'
import { inventRelay } from '../support/descriptors.ts'
import { newLease } from '../support/lease.ts'

const OWN = '0xgateway'
const A = 'https://a.example'

let directories: string[]
let first: RelayIdentity
let second: RelayIdentity
/** Who is a peer now: identity → origin. */
const peers = new Map<string, string>()
const keys = new Map<string, RelayIdentity>()
let identities: IngressIdentities

beforeAll(async () => {
  directories = await Promise.all([1, 2].map(() => mkdtemp(join(tmpdir(), 'svc-ingress-'))))
  first = await loadIdentity(directories[0]!)
  second = await loadIdentity(directories[1]!)
})
afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true })
})
beforeEach(() => {
  peers.clear()
  keys.clear()
  peers.set(first.address, A)
  keys.set(first.address, first)
  const network = {
    peerOf: (identity: string) => {
      const origin = peers.get(identity)
      return origin === undefined ? undefined : { identity, origin, overlayAddress: '127.0.0.1', port: 1 }
    },
  }
  identities = new IngressIdentities(
    network as unknown as OverlayNetwork,
    {
      [Symbol.iterator]: () => [].values(),
      at: () => undefined,
      of: (address) => ({ address, origin: A, descriptor: inventRelay().describe(A) }),
      keyOf: async ({ address }) => keys.get(address)?.publicKey,
    },
    OWN,
  )
})

function issue(by: RelayIdentity, { issuer = A, ingress = by.address, gateway = OWN } = {}): string {
  return new TokenIssuer(by, issuer).issue(newLease(), AUDIENCE.overlayReverse, { ingress, gateway })
}

test('a peer that signed for this gateway is believed', async () => {
  const verified = await identities.verify(issue(first))
  expect(verified).toMatchObject({ peer: { identity: first.address, origin: A }, claims: { gateway: OWN } })
})

test.each<[string, () => string]>([
  ['a relay that is no peer', () => issue(second)],
  ['a relay that is no peer, in the name of one', () => issue(second, { ingress: first.address })],
  ['a peer for another gateway', () => issue(first, { gateway: '0xother' })],
  ['a peer in the name of another relay', () => issue(first, { ingress: second.address })],
  ['a peer at another URL', () => issue(first, { issuer: 'https://b.example' })],
  ['a peer, as a direct capability', () => new TokenIssuer(first, A).issue(newLease(), AUDIENCE.reverse)],
  ['a peer, as a lease token', () => new TokenIssuer(first, A).issue(newLease(), AUDIENCE.lease)],
  ['nobody', () => 'a.b.c'],
])('a capability of %s is not taken', async (_, token) => {
  expect(await identities.verify(token())).toBeUndefined()
})

test('a peer whose descriptor is not genuine has no key', async () => {
  keys.clear()
  expect(await identities.verify(issue(first))).toBeUndefined()
})

test('a relay that is no peer any more, or has another identity now, is not believed', async () => {
  const old = issue(first)
  expect(await identities.verify(old)).toBeDefined()
  peers.clear()
  expect(await identities.verify(old)).toBeUndefined()
  peers.set(second.address, A)
  keys.set(second.address, second)
  expect(await identities.verify(issue(second))).toBeDefined()
  expect(await identities.verify(old)).toBeUndefined()
  peers.set(first.address, A)
  peers.delete(second.address)
  expect(await identities.verify(old)).toBeDefined()
})
