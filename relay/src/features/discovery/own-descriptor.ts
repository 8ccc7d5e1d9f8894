// The relay's own descriptor: its current statements about itself, signed by its identity.

import { createHash } from 'node:crypto'
import {
  DISCOVERY_VERSION,
  descriptorTexts,
  OVERLAY_DISCOVERY_VERSION,
  type RelayDescriptor,
  type UnsignedDescriptor,
} from '@svc/protocol'
import { checksumAddress } from '../../core/auth/ethereum-address.ts'
import type { RelayIdentity } from '../../core/auth/relay-identity.ts'
import { now, toWallTime } from '../../core/clock.ts'
import { DESCRIPTOR_REFRESH_MS, DESCRIPTOR_VALID_MS } from './limits.ts'

/** The statements of the relay about itself, read when a descriptor is made. */
export interface OwnState {
  /** True when leases can have dedicated ports of each kind. */
  udp: boolean
  tcp: boolean
  /** Open connections of visitors. */
  connections: number
  /** Bytes of visitors, both ways, since the relay started. */
  bytes: number
  /** The data that other relays need to reach it over the overlay; undefined when it has no overlay. */
  overlay?: OwnOverlay | undefined
}

/** The overlay of the relay. */
export interface OwnOverlay {
  /** Empty when the overlay is not WireGuard. */
  wireguardPublicKey: string
  /** UDP port; 0 when the overlay is not WireGuard. */
  wireguardPort: number
}

/** Added to the last byte of an Ethereum signature, this gives the first byte of a compact one for a compressed key. */
const COMPRESSED_KEY = 4

export class OwnDescriptor {
  readonly origin: string
  readonly #identity: Pick<RelayIdentity, 'address' | 'signDigest'>
  readonly #state: () => OwnState
  readonly #validMs: number
  #signed: Promise<RelayDescriptor> | undefined
  #signedAt = 0
  /** Byte count at the last descriptor. */
  #bytes: number

  constructor(
    origin: string,
    identity: Pick<RelayIdentity, 'address' | 'signDigest'>,
    state: () => OwnState,
    validMs: number = DESCRIPTOR_VALID_MS,
  ) {
    this.origin = origin
    this.#identity = identity
    this.#state = state
    this.#validMs = validMs
    this.#bytes = state().bytes
    this.#signedAt = now()
  }

  /** Lower case with `0x`. */
  get address(): string {
    return this.#identity.address
  }

  /** The descriptor, at most {@link DESCRIPTOR_REFRESH_MS} old. */
  current(): Promise<RelayDescriptor> {
    const age = now() - this.#signedAt
    if (this.#signed === undefined || age >= Math.min(DESCRIPTOR_REFRESH_MS, this.#validMs / 2))
      this.#signed = this.#sign(age)
    return this.#signed
  }

  async #sign(ageMs: number): Promise<RelayDescriptor> {
    this.#signedAt = now()
    const { udp, tcp, connections, bytes, overlay } = this.#state()
    const issuedAt = Math.floor(toWallTime(this.#signedAt))
    const descriptor: UnsignedDescriptor = {
      // Other relays of the family sign and verify this form of the address, whatever form the descriptor has.
      address: checksumAddress(this.address),
      version: overlay === undefined ? DISCOVERY_VERSION : OVERLAY_DISCOVERY_VERSION,
      issued_at: new Date(issuedAt).toISOString(),
      expires_at: new Date(issuedAt + this.#validMs).toISOString(),
      api_https_addr: this.origin,
      wireguard_public_key: overlay?.wireguardPublicKey ?? '',
      wireguard_port: overlay?.wireguardPort ?? 0,
      supports_overlay: overlay !== undefined,
      supports_udp: udp,
      supports_tcp: tcp,
      active_connections: connections,
      tcp_bps: Math.max(0, Math.round(((bytes - this.#bytes) * 1000) / Math.max(1, ageMs))),
    }
    this.#bytes = bytes
    const [text] = descriptorTexts(descriptor)
    const digest = createHash('sha256').update(text).digest()
    return { ...descriptor, signature: compact(await this.#identity.signDigest(digest)) }
  }
}

/** The compact form in base64. @param signature r, s, and the recovery bit with 27 added */
function compact(signature: Uint8Array): string {
  const last = signature.length - 1
  const first = signature[last]! + COMPRESSED_KEY
  return Buffer.concat([Uint8Array.of(first), signature.subarray(0, last)]).toString('base64')
}
