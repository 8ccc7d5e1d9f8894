// An IP network that the operator provides as the overlay: OVERLAY_CONFIG lists the address of each peer.

import type { Socket } from 'node:net'
import { normalizeIp } from '../../core/client-address/ip-address.ts'
import { dialPeer } from './dial-peer.ts'
import type { GivenOverlay, OverlayEndpoint } from './overlay-config.ts'
import type { OverlayNetwork, OverlayPeer } from './overlay-network.ts'
import type { VerifiedRelay, VerifiedRelays } from './verified-relays.ts'

export class GivenNetwork implements OverlayNetwork {
  readonly address: string
  readonly #peers: ReadonlyMap<string, OverlayEndpoint>
  readonly #relays: VerifiedRelays
  /** Overlay address → origin. */
  readonly #origins: ReadonlyMap<string, string>
  #isOpen = true

  /** @param relays a relay that the operator lists is a peer while it is one of these and supports the overlay */
  constructor({ address, peers }: GivenOverlay, relays: VerifiedRelays) {
    this.address = address
    this.#peers = peers
    this.#relays = relays
    this.#origins = new Map([...peers].map(([origin, peer]) => [peer.address, origin]))
  }

  /** Always true: only a connection attempt shows whether a given network carries packets. */
  get isUp(): boolean {
    return this.#isOpen
  }

  *peers(): Generator<OverlayPeer> {
    for (const origin of this.#peers.keys()) {
      const peer = this.#peer(this.#relays.at(origin))
      if (peer !== undefined) yield peer
    }
  }

  peerOf(identity: string): OverlayPeer | undefined {
    return this.#peer(this.#relays.of(identity))
  }

  peerAt(overlayAddress: string): OverlayPeer | undefined {
    const origin = this.#origins.get(normalizeIp(overlayAddress) ?? '')
    return origin === undefined ? undefined : this.#peer(this.#relays.at(origin))
  }

  connect({ overlayAddress, port }: OverlayPeer, signal?: AbortSignal): Promise<Socket> {
    return dialPeer({ host: overlayAddress, port, localAddress: this.address }, signal)
  }

  async close(): Promise<void> {
    this.#isOpen = false
  }

  #peer(relay: VerifiedRelay | undefined): OverlayPeer | undefined {
    const endpoint = relay && this.#peers.get(relay.origin)
    if (!this.#isOpen || endpoint === undefined || !relay?.descriptor.supports_overlay) return undefined
    const { address: overlayAddress, port } = endpoint
    return { identity: relay.address, origin: relay.origin, overlayAddress, port }
  }
}
