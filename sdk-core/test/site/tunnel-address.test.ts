// Where a site's datagram tunnel has to go: each registration may name another machine of the relay.

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { identityFromKey } from '../../src/identity/key.ts'
import type { DatagramEvents } from '../../src/platform.ts'
import { type PlatformSite, publishOn } from '../../src/publish.ts'
import { RelayDouble, testPlatform } from '../support/relay-double.ts'

const { address } = identityFromKey(new Uint8Array(32).fill(1))
let relay: RelayDouble
let site: PlatformSite

beforeEach(async () => {
  relay = await RelayDouble.start()
})
afterEach(async () => {
  await site.close()
  await relay.crash()
})

/** The answer to a registration of a lease with UDP. */
function registersAt(udp_tunnel_addr: string | undefined): void {
  const expires_at = new Date(Date.now() + 120_000).toISOString()
  relay.overrides['/sdk/register'] = () => [
    200,
    {
      ok: true,
      data: {
        identity: { name: 'demo', address },
        hostname: 'demo.relay.localhost',
        canonical_hostname: `demo-${address.slice(2).toLowerCase()}.relay.localhost`,
        expires_at,
        access_token: 'access.1',
        reverse_endpoint: { url: `${relay.url}/sdk/connect`, capability: 'capability.1', overlay: false },
        udp_addr: 'relay.localhost:30001',
        udp_tunnel_addr,
      },
    },
  ]
}

it('is told by the last registration, whenever the tunnel is opened, also across renewals', async () => {
  let events: DatagramEvents | undefined
  const wake = vi.fn()
  const stats = { received: 0, sent: 0, dropped: {}, flows: 0, tunnels: 1 }
  registersAt('machine-2.localhost:4433')
  site = await publishOn(
    {
      ...testPlatform(),
      openDatagrams: async (_relay, given) => {
        events = given
        return { stats, wake, close: () => {} }
      },
    },
    { relay: relay.url, name: 'demo', ttl: 2, fetch: () => new Response() },
  )
  expect(events!.lease()!.tunnelAddress).toEqual({ host: 'machine-2.localhost', port: 4433 })
  await vi.waitFor(() => expect(relay.count('/sdk/renew')).toBeGreaterThan(0))
  expect(events!.lease()!.tunnelAddress).toEqual({ host: 'machine-2.localhost', port: 4433 })
  for (const [text, expected] of [
    ['[::1]:443', { host: '::1', port: 443 }],
    [undefined, undefined],
  ] as const) {
    wake.mockClear()
    registersAt(text)
    relay.endLease(4001)
    await vi.waitFor(() => expect(wake).toHaveBeenCalled())
    expect(events!.lease()!.tunnelAddress).toEqual(expected)
    await vi.waitFor(() => expect(site.state).toBe('online'))
  }
})
