// A lease as the registry makes it, for tests that need no more than one.

import { Lease } from '../../src/core/lease/lease.ts'

export function newLease(fields: Partial<ConstructorParameters<typeof Lease>[0]> = {}): Lease {
  return new Lease({
    identity: { name: 'demo', address: `0x${'ab'.repeat(20)}` },
    hostname: 'demo.relay.localhost',
    canonicalHostname: `demo-${'ab'.repeat(20)}.relay.localhost`,
    metadata: {},
    ttlS: 120,
    firstSeenAt: 0,
    clientIp: '192.0.2.1',
    reportedIp: undefined,
    ...fields,
  })
}

export function leaseNamed(name: string): Lease {
  const identity = { name, address: `0x${'ab'.repeat(20)}` }
  return newLease({ identity, hostname: '', canonicalHostname: `${name}.relay.localhost` })
}
