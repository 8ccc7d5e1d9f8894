// The native carrier: reverse sessions over a few TLS connections, or each over a separate one if the relay lacks `native_yamux`.

import { YAMUX_UPGRADE } from '@svc/protocol'
import { asSvcError, type Connect, type OpenCarrier, openMultiplexedCarrier, SvcError } from '@svc/sdk-core'
import type { RelayConnectOptions } from '../net/forward-proxy.ts'
import { publicLookup, requirePublicHost } from '../net/public-lookup.ts'
import { Dialer } from './dialer.ts'
import { LeaseContest } from './lease-contest.ts'
import { attachTo } from './native-transport.ts'
import { LEASE_UNKNOWN } from './refusals.ts'
import { openSessionCarrier } from './session-carrier.ts'

/**
 * @param tls returns a CA, a DNS lookup and a proxy for each connection
 * @param isMultiplexed whether sessions share connections at relays that list `native_yamux`
 * @param allowsLocalGateways whether gateways may be at non-public addresses
 */
export function nativeCarrier(
  tls: () => RelayConnectOptions,
  isMultiplexed: boolean,
  allowsLocalGateways = false,
): OpenCarrier {
  const contest = new LeaseContest()
  let last: { url: string; dialer: Dialer } | undefined
  return async ({ url, isGateway, extensions }, traffic, events, signal) => {
    // A relay's URL stays the same; a gateway's may change.
    if (last?.url !== url) {
      const isBound = isGateway && !allowsLocalGateways
      if (isBound) requirePublicHost(new URL(url), tls().proxyFor)
      last = { url, dialer: new Dialer(url, { ...tls(), ...(isBound && { lookup: publicLookup }) }) }
    }
    const { dialer } = last
    if (!(isMultiplexed && extensions.has('native_yamux')))
      return openSessionCarrier(dialer, contest, traffic, events, signal)
    const way = { kind: 'native', connect: connectBy(dialer, events.capability) } as const
    return openMultiplexedCarrier(way, traffic, events, signal)
  }
}

function connectBy(dialer: Dialer, capability: () => string): Connect {
  return async (attach, signal) => {
    try {
      return attachTo(await dialer.dial(YAMUX_UPGRADE, capability(), signal), attach)
    } catch (error) {
      const reason = asSvcError(error, 'relay_unreachable', 'no connection for reverse sessions')
      if (!LEASE_UNKNOWN.has(reason.code)) throw reason
      // A renewal would not help: the capability is the newest.
      throw new SvcError('stream_rejected', 'the relay does not know the lease', { cause: reason })
    }
  }
}
