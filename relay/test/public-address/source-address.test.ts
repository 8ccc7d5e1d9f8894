// The address that the operating system uses for the internet.

import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { sourceAddress } from '../../src/features/dns/public-address/source-address.ts'

test.each(['ipv4', 'ipv6'] as const)(
  'the source address of %s is one of this machine, or there is no route',
  async (family) => {
    const own = Object.values(networkInterfaces()).flatMap((infos) => infos?.map(({ address }) => address))
    expect([undefined, ...own]).toContain(await sourceAddress(family))
  },
)
