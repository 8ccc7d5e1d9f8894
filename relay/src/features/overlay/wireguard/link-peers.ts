// Keeps the list of relays that are peers of the link, and the endpoint of each, from discovery and the state of
// WireGuard.

import { monotonic } from '../../../core/clock.ts'
import type { OverlayPeer } from '../overlay-network.ts'
import { OVERLAY_PORT } from '../settings.ts'
import type { VerifiedRelay } from '../verified-relays.ts'
import type { DevicePeer, PeerReading } from './device.ts'
import type { KeyOwners } from './key-owners.ts'
import { ADDRESS_TURN_MS, CLAIM_TURN_MS, SESSION_MAX_MS } from './limits.ts'
import { isWireGuardKey, overlayAddressOf } from './overlay-address.ts'

/** The relay that is the peer for a key. */
interface Holder {
  peer: OverlayPeer
  publicKey: string
  /** WireGuard's UDP port. */
  port: number
  /** Relay time since which it holds the key. */
  since: number
  /** The address that is tried while it is silent, and the relay time since then. */
  sought: { host: string | undefined; since: number } | undefined
}

export interface LinkPeersParts {
  publicKey: string
  /** The relay's own address on the overlay. */
  address: string
  /** Returns the known IP addresses of an origin's host. */
  addressesOf: (origin: string) => readonly string[]
  /** The known owners of keys that several relays claim. */
  owners: Pick<KeyOwners, 'ownerOf' | 'keep'>
}

export class LinkPeers {
  readonly #parts: LinkPeersParts
  /** By the public key. */
  #holders = new Map<string, Holder>()
  #byIdentity = new Map<string, OverlayPeer>()
  #byAddress = new Map<string, OverlayPeer>()

  constructor(parts: LinkPeersParts) {
    this.#parts = parts
  }

  get all(): Iterable<OverlayPeer> {
    return this.#byIdentity.values()
  }

  of(identity: string): OverlayPeer | undefined {
    return this.#byIdentity.get(identity)
  }

  /** @param overlayAddress normalized */
  at(overlayAddress: string): OverlayPeer | undefined {
    return this.#byAddress.get(overlayAddress)
  }

  /**
   * Applies the relays that are verified now.
   * @returns the peers to configure in WireGuard
   */
  follow(relays: Iterable<VerifiedRelay>, readings: readonly PeerReading[]): DevicePeer[] {
    const seen = new Map(readings.map((reading) => [reading.publicKey, reading]))
    const before = this.#holders
    const claims = this.#claims(relays)
    this.#parts.owners.keep(claims)
    this.#holders = new Map()
    this.#byIdentity = new Map()
    this.#byAddress = new Map()
    // An existing peer keeps its address when a new key has the same one.
    const keys = [...claims.keys()].sort((one, other) => Number(before.has(other)) - Number(before.has(one)))
    for (const publicKey of keys) {
      const holder = this.#holderOf(
        publicKey,
        claims.get(publicKey)!,
        before.get(publicKey),
        seen.get(publicKey),
      )
      const { overlayAddress, identity } = holder.peer
      if (overlayAddress === this.#parts.address || this.#byAddress.has(overlayAddress)) continue
      this.#holders.set(publicKey, holder)
      this.#byIdentity.set(identity, holder.peer)
      this.#byAddress.set(overlayAddress, holder.peer)
    }
    return [...this.#holders.values()].map((holder) => this.#devicePeer(holder, seen.get(holder.publicKey)))
  }

  clear(): void {
    this.follow([], [])
  }

  /** The relays that name each key. */
  #claims(relays: Iterable<VerifiedRelay>): Map<string, VerifiedRelay[]> {
    const claims = new Map<string, VerifiedRelay[]>()
    for (const relay of relays) {
      const { supports_overlay, wireguard_public_key: key, wireguard_port: port } = relay.descriptor
      const isPeer = supports_overlay && isWireGuardKey(key) && port > 0 && key !== this.#parts.publicKey
      if (!isPeer) continue
      const same = claims.get(key)
      if (same === undefined) claims.set(key, [relay])
      else same.push(relay)
    }
    return claims
  }

  /**
   * Decides between relays that claim the same key. A relay may claim another one's, since keys are public, but
   * cannot answer at the overlay address of the key. Until the owner has answered, the present peer remains.
   */
  #holderOf(
    publicKey: string,
    claimants: readonly VerifiedRelay[],
    before: Holder | undefined,
    reading: PeerReading | undefined,
  ): Holder {
    const held = claimants.find(({ address }) => address === before?.peer.identity)
    const isHeldLongEnough = before !== undefined && monotonic() - before.since >= CLAIM_TURN_MS
    let next = held ?? claimants[0]!
    if (claimants.length > 1) {
      const isReachable = reading !== undefined && isConnected(reading)
      const identities = claimants.map(({ address }) => address)
      const owner = this.#parts.owners.ownerOf(publicKey, identities, isReachable)
      if (owner !== undefined) next = claimants[identities.indexOf(owner)]!
      else if (!isReachable && held !== undefined && isHeldLongEnough)
        next = claimants[(claimants.indexOf(held) + 1) % claimants.length]!
    }
    const peer: OverlayPeer = {
      identity: next.address,
      origin: next.origin,
      overlayAddress: overlayAddressOf(publicKey),
      port: OVERLAY_PORT,
    }
    const since = next === held ? before!.since : monotonic()
    const sought = next === held ? before!.sought : undefined
    return { peer, publicKey, port: next.descriptor.wireguard_port, since, sought }
  }

  #devicePeer(holder: Holder, reading: PeerReading | undefined): DevicePeer {
    const { peer, publicKey, port } = holder
    const { overlayAddress, origin } = peer
    const addresses = this.#parts.addressesOf(origin)
    // The source address of its packets is right, even behind a NAT. A silent peer is tried at the addresses of its
    // host.
    if (reading !== undefined && isConnected(reading)) {
      holder.sought = undefined
      return { publicKey, overlayAddress, host: reading.host, port: reading.port }
    }
    const isSame = reading?.host !== undefined && addresses.includes(reading.host)
    const host = isSame ? reading.host : addresses[0]
    const { sought } = holder
    if (sought === undefined || sought.host !== host) holder.sought = { host, since: monotonic() }
    else if (monotonic() - sought.since >= ADDRESS_TURN_MS) {
      const next = addresses[(addresses.indexOf(host!) + 1) % addresses.length]
      holder.sought = { host: next, since: monotonic() }
    }
    return { publicKey, overlayAddress, host: holder.sought?.host, port }
  }
}

/** Returns whether the session with a peer can still carry packets. */
export function isConnected({ handshakeAt, host }: PeerReading): boolean {
  return host !== undefined && handshakeAt !== undefined && Date.now() - handshakeAt < SESSION_MAX_MS
}
