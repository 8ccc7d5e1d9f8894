// The ingress side of gateways: accepts a session that a peer carries here, if that peer is the gateway of the
// session's lease.

import { RelayError } from '../../../core/errors.ts'
import type { ConnectEndpoint } from '../../../core/reverse/connect-endpoint.ts'
import type { OverlayUpgrade } from '../overlay-server.ts'
import type { GatewaysOfLeases } from './gateways-of-leases.ts'

/** @param identity address of this relay: lower case with `0x` */
export function takeCarried(
  connect: Pick<ConnectEndpoint, 'upgradeCarried'>,
  gateways: Pick<GatewaysOfLeases, 'isChosen'>,
  identity: string,
): OverlayUpgrade {
  return (peer, request, socket, head) =>
    connect.upgradeCarried(request, socket, head, (lease, { ingress, gateway }) => {
      const isFor = ingress === identity && gateway === peer.identity
      if (!isFor || !gateways.isChosen(lease, peer.identity))
        throw new RelayError('unauthorized', 'the capability is not for this gateway')
    })
}
