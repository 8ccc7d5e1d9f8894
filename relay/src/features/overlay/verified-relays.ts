// The other relays that discovery has verified, as far as the overlay needs them.

import type { KeyObject } from 'node:crypto'
import type { RelayDescriptor } from '@svc/protocol'

export interface VerifiedRelay {
  /** Origin of its URL. */
  readonly origin: string
  /** Address of its identity: lower case with `0x`. */
  readonly address: string
  /** The newest descriptor: signed and not expired. */
  readonly descriptor: RelayDescriptor
}

/** Relays that gave valid descriptors at their own origins, and that answer. */
export interface VerifiedRelays {
  [Symbol.iterator](): Iterator<VerifiedRelay>
  /** @param origin of its URL */
  at(origin: string): VerifiedRelay | undefined
  /** @param address lower case with `0x` */
  of(address: string): VerifiedRelay | undefined
  /** The public key of the relay's identity; undefined when its descriptor is not genuine. */
  keyOf(relay: VerifiedRelay): Promise<KeyObject | undefined>
}
