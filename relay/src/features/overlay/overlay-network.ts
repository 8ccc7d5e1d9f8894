// The interface between the relay and the network that links it with other relays, whichever that is.

import type { Socket } from 'node:net'

/** A relay on the overlay. */
export interface OverlayPeer {
  /** Address of its identity: lower case with `0x`. */
  readonly identity: string
  /** Origin of its URL. */
  readonly origin: string
  /** Its IP address on the overlay. */
  readonly overlayAddress: string
  /** TCP port of its overlay server. */
  readonly port: number
}

/**
 * An IP network of relays. It delivers packets with the source address `a` only from the relay that has `a`, so an
 * address on it identifies a relay.
 */
export interface OverlayNetwork {
  /** This relay's own IP address on the overlay. */
  readonly address: string
  /** True when packets can pass now. */
  readonly isUp: boolean
  peers(): Iterable<OverlayPeer>
  /** @param identity lower case with `0x` */
  peerOf(identity: string): OverlayPeer | undefined
  /** @param overlayAddress as `Socket.remoteAddress` has it */
  peerAt(overlayAddress: string): OverlayPeer | undefined
  /** Opens a TCP connection to the peer's overlay server. @throws Error of the system, or the signal's reason */
  connect(peer: OverlayPeer, signal?: AbortSignal): Promise<Socket>
  close(): Promise<void>
}
