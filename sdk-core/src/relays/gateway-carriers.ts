// Opens a carrier at the gateway that the relay chose, or, when that fails, at another endpoint from the relay.

import type { Registration } from '../control/lease.ts'
import type { SiteCarrier } from '../platform.ts'
import { GATEWAYS_TRIED_MAX } from './limits.ts'

/**
 * @param open opens a carrier at the endpoint of the lease
 * @param avoid resolves with the lease at another endpoint than the one that failed, or with undefined
 * @throws SvcError the error of the endpoint that failed last
 */
export async function openGatewayCarrier(
  lease: Registration,
  open: (lease: Registration) => Promise<SiteCarrier>,
  avoid: (failed: Registration) => Promise<Registration | undefined>,
  signal: AbortSignal,
): Promise<SiteCarrier> {
  for (let current = lease, tried = 1; ; tried++) {
    try {
      return await open(current)
    } catch (error) {
      if (!current.isGateway || signal.aborted || tried > GATEWAYS_TRIED_MAX) throw error
      const other = await avoid(current)
      if (other === undefined || other.carrierUrl === current.carrierUrl) throw error
      current = other
    }
  }
}
