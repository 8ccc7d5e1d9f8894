// `cache`, `cache_ttl` and `overlay` of a registration: from the request through the challenge into the lease, and from
// there into each worker process.

import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { registerChallengeRequest } from '../../src/core/api/endpoints/request-schemas.ts'
import type { Lease } from '../../src/core/lease/lease.ts'
import { ROOT_ROUTE, type Route } from '../../src/core/lease/route.ts'
import { RoutingTable } from '../../src/core/routing/routing-table.ts'
import { LeaseReplica } from '../../src/features/workers/lease-replica.ts'
import { sharedLease } from '../../src/features/workers/messages.ts'
import { createSystem, type System } from '../model/system.ts'

const SOURCE = '192.0.2.1'
const DAY_S = 86_400

let system: System
beforeEach(async () => {
  system = await createSystem()
})
afterEach(() => system.close())

async function register(fields: object): Promise<Lease> {
  const account = privateKeyToAccount(generatePrivateKey())
  const identity = { name: 'demo', address: account.address }
  const request = registerChallengeRequest.parse({ identity, ...fields })
  const { challenge_id, siwe_message } = await system.sdk.challenge(request, SOURCE)
  const siwe_signature = await account.signMessage({ message: siwe_message })
  await system.sdk.register({ challenge_id, siwe_message, siwe_signature }, SOURCE)
  return [...system.leases].at(-1)!
}

/** The lease as a worker has it, after its way between two processes. */
function inWorker(lease: Lease): Lease {
  const leases = new LeaseReplica(new RoutingTable<Route>('relay.localhost', ROOT_ROUTE), () => {})
  leases.put(structuredClone(sharedLease(lease)))
  return leases.byId(lease.id)!
}

describe('the lease, here and in a worker, has', () => {
  test.each<[string, object, object]>([
    ['nothing that was not asked for', {}, { cache: false, cacheTtlS: 0, overlay: false }],
    [
      'all that was asked for',
      { cache: true, cache_ttl: 3600, overlay: true },
      { cache: true, cacheTtlS: 3600, overlay: true },
    ],
    ['0 where the relay decides', { cache: true, cache_ttl: 0 }, { cache: true, cacheTtlS: 0 }],
    ['more than a relay allows by default', { cache: true, cache_ttl: 2 * DAY_S }, { cacheTtlS: 2 * DAY_S }],
    ['an away page', { away_page: true }, { cache: false, awayPage: true }],
    ['overlay alone', { overlay: true }, { cache: false, cacheTtlS: 0, overlay: true }],
  ])('%s', async (_what, asked, preferences) => {
    const lease = await register(asked)
    expect(lease.preferences).toMatchObject(preferences)
    expect(inWorker(lease).preferences).toEqual(lease.preferences)
  })
})

test('a renewal leaves them, a new registration brings its own', async () => {
  const lease = await register({ cache: true, cache_ttl: 60 })
  const access_token = system.credentials.issue(lease, 'svc-sdk')
  await system.sdk.renew({ access_token }, SOURCE)
  expect(lease.preferences).toMatchObject({ cache: true, cacheTtlS: 60 })
  const { identity, clientIp, metadata } = lease
  const request = { identity, metadata, allowCanonicalFallback: false, ttlS: 60 }
  const next = system.leases.draft(request, { clientIp, reportedIp: undefined }).commit()
  expect(next.preferences).toMatchObject({ cache: false, cacheTtlS: 0 })
})
