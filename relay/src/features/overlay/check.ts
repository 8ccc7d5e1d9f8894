// Checks the overlay before a start: whether the relay could make its WireGuard link here, and whether its key can be
// used.

import { hostPort } from '@svc/node-kit/host-port'
import { error, type Found, off, ok, warning } from '../../core/check/finding.ts'
import type { Settings } from '../../core/config/settings.ts'
import { readOverlayConfig } from './overlay-config.ts'
import { findDriver } from './wireguard/find-driver.ts'
import { hasFirewall } from './wireguard/firewall.ts'
import { readLinkState } from './wireguard/link-state.ts'
import { overlayAddressOf } from './wireguard/overlay-address.ts'

/** @throws SettingsError for a file that cannot be used, as at a start */
export async function checkOverlay({ overlay, identityPath }: Settings): Promise<Found[]> {
  const { configFile, wireguardPort } = overlay
  const config = configFile === undefined ? undefined : await readOverlayConfig(configFile)
  if (config?.kind === 'given') {
    if (wireguardPort !== undefined)
      return [error('OVERLAY_CONFIG has to name the network "wireguard" where WIREGUARD_PORT is set.')]
    const { address, port, network, peers } = config
    return [
      ok(
        `The relay links with ${peers.size} peers on ${network}, and listens for them at ${hostPort(address, port)}.`,
      ),
    ]
  }
  if (wireguardPort === undefined)
    return config === undefined
      ? [off('WIREGUARD_PORT and OVERLAY_CONFIG are not set: the relay has no overlay.')]
      : [error('OVERLAY_CONFIG names the network "wireguard", which needs WIREGUARD_PORT.')]
  const found = await checkWireGuard(identityPath, wireguardPort)
  return found.status === 'ok' && !(await hasFirewall()) ? [found, warning(WITHOUT_FIREWALL)] : [found]
}

const WITHOUT_FIREWALL =
  'The machine has no nft (Debian package nftables): peers on the overlay can reach other IPv6 addresses of it.'

/** Checks whether this relay uses gateways, and is one. */
export function checkGateways({ overlay, workers }: Settings): Found[] {
  if (overlay.configFile === undefined) return [off('OVERLAY_CONFIG is not set: the relay has no gateways.')]
  if (workers === 1) return [ok('The relay is a gateway of its peers, and chooses gateways among them.')]
  return [
    warning(
      'The relay chooses gateways among its peers, and is not a gateway itself: SVC_WORKERS is above 1.',
    ),
  ]
}

async function checkWireGuard(directory: string, port: number): Promise<Found> {
  const state = await readLinkState(directory)
  const driver = await findDriver()
  if (typeof driver === 'string')
    return warning(`The relay has no overlay, and serves everything else: ${driver}.`)
  const address = state === undefined ? 'an address of a new key' : overlayAddressOf(state.publicKey)
  const way = driver.name === 'kernel' ? 'by the kernel' : `by ${driver.name}`
  return ok(
    `WireGuard (${way}) links the relay with others at UDP port ${port}; its overlay address is ${address}.`,
  )
}
