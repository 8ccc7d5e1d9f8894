// Preloaded into a relay: with a lease named `seed` come thousands of others like it, without the signature of each.

import { LeaseRegistry } from '../../src/core/lease/lease-registry.ts'

const SEEDED = 3_000

const register = LeaseRegistry.prototype.register
LeaseRegistry.prototype.register = function (request, addresses, ports) {
  if (request.identity.name === 'seed')
    for (let index = 0; index < SEEDED; index++) {
      const identity = { name: `seed${index}`, address: `0x${index.toString(16).padStart(40, '0')}` }
      // Each lease has a copy of its own, as if it came by itself.
      const metadata = JSON.parse(JSON.stringify(request.metadata))
      register.call(this, { ...request, identity, metadata }, addresses)
    }
  return register.call(this, request, addresses, ports)
}
