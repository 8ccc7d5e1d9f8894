// Preloaded into a relay: with a lease named `seed` come thousands of others like it, without the signature of each.

import { LeaseRegistry } from '../../src/core/lease/lease-registry.ts'

const SEEDED = 3_000

const { draft } = LeaseRegistry.prototype
LeaseRegistry.prototype.draft = function (request, addresses, claimed) {
  if (request.identity.name === 'seed')
    for (let index = 0; index < SEEDED; index++) {
      const identity = { name: `seed${index}`, address: `0x${index.toString(16).padStart(40, '0')}` }
      // Each lease has a copy of its own, as if it came by itself.
      const metadata = JSON.parse(JSON.stringify(request.metadata))
      draft.call(this, { ...request, identity, metadata }, addresses).commit()
    }
  return draft.call(this, request, addresses, claimed)
}
