// Tells the tunnel of a lease that asked for its visitors' addresses the address behind each flow, at a bounded rate.

import { GcraLimiter } from '@svc/node-kit/gcra'
import type { FlowLine } from '@svc/protocol'
import { normalizeIp } from '../../core/client-address/ip-address.ts'
import type { Flow } from './flow-table.ts'
import { FLOW_LINES_BURST, FLOW_LINES_NETWORK_SHARE, FLOW_LINES_PER_SECOND } from './limits.ts'
import { NetworkRates } from './network-byte-rates.ts'
import type { TunnelConnection } from './quic.ts'

const RATE = { perMinute: FLOW_LINES_PER_SECOND * 60, burst: FLOW_LINES_BURST }
const NETWORK_RATE = {
  perMinute: FLOW_LINES_NETWORK_SHARE * RATE.perMinute,
  burst: FLOW_LINES_NETWORK_SHARE * RATE.burst,
}

/** The rates of the lines about visitors of each network, at all ports together. */
export function flowLineRates(): NetworkRates {
  return new NetworkRates(NETWORK_RATE)
}

/** Announces the flows of one port. */
export class FlowAnnouncer {
  readonly #rate = new GcraLimiter(1, RATE)
  readonly #networkRates: () => NetworkRates

  /** @param networkRates called for each new flow */
  constructor(networkRates: () => NetworkRates) {
    this.#networkRates = networkRates
  }

  /** Writes the line about a flow that this tunnel does not know yet; a line beyond the rates is left out for good. */
  announce(flow: Flow, tunnel: Pick<TunnelConnection, 'sendLine'>): void {
    if (flow.announcedTo === tunnel) return
    flow.announcedTo = tunnel
    const { id, port } = flow
    const address = normalizeIp(flow.address)
    if (address === undefined || !this.#spend(flow.address)) return
    tunnel.sendLine(`${JSON.stringify({ flow: id, address, port } satisfies FlowLine)}\n`)
  }

  #spend(address: string): boolean {
    const now = performance.now()
    if (this.#rate.waitMs(0, 1, now) > 0 || !this.#networkRates().of(address)(1)) return false
    this.#rate.spend(0, 1, now)
    return true
  }
}
