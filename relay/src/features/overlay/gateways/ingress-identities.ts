// Checks delegated capabilities: the relay that signed one must be a peer, and the capability must name this gateway.

import type { KeyObject } from 'node:crypto'
import { AUDIENCE, type TokenClaims } from '@svc/protocol'
import { TokenVerifier } from '../../../core/auth/token-verifier.ts'
import type { TrustedIssuer } from '../../../core/auth/trusted-issuers.ts'
import type { OverlayNetwork, OverlayPeer } from '../overlay-network.ts'
import type { VerifiedRelays } from '../verified-relays.ts'

/** Relays whose keys are kept. */
const INGRESS_KEYS_MAX = 1024

export class IngressIdentities {
  readonly #network: OverlayNetwork
  readonly #relays: VerifiedRelays
  readonly #own: string
  readonly #issuers = new Map<string, TrustedIssuer & { identity: string }>()
  readonly #tokens = new TokenVerifier(this.#issuers)

  /** @param own address of this relay's identity: lower case with `0x` */
  constructor(network: OverlayNetwork, relays: VerifiedRelays, own: string) {
    this.#network = network
    this.#relays = relays
    this.#own = own
  }

  /**
   * @returns the peer that signed the capability for this gateway, with its claims; undefined when there is none, or
   *   the capability has expired or is not valid yet
   */
  async verify(capability: string): Promise<{ peer: OverlayPeer; claims: TokenClaims } | undefined> {
    const { iss, ingress } = unverifiedClaims(capability) ?? {}
    if (typeof iss !== 'string' || typeof ingress !== 'string') return undefined
    const peer = this.#network.peerOf(ingress)
    if (peer?.origin !== iss || !(await this.#trust(peer))) return undefined
    const claims = this.#tokens.verify(capability, 'delegated')
    return claims && { peer, claims }
  }

  /** Keeps the key of a peer, so that its tokens are accepted. */
  async #trust({ origin, identity }: OverlayPeer): Promise<boolean> {
    if (this.#issuers.get(origin)?.identity === identity) return true
    const relay = this.#relays.of(identity)
    const publicKey = relay && (await this.#relays.keyOf(relay))
    if (publicKey === undefined) return false
    this.#issuers.delete(origin)
    this.#issuers.set(origin, { identity, ...this.#issuer(publicKey, identity) })
    if (this.#issuers.size > INGRESS_KEYS_MAX) this.#issuers.delete(this.#issuers.keys().next().value!)
    return true
  }

  #issuer(publicKey: KeyObject, identity: string): TrustedIssuer {
    const accepts = ({ ingress, gateway }: TokenClaims): boolean =>
      ingress === identity && gateway === this.#own
    return { publicKey, audiences: new Map([[AUDIENCE.overlayReverse, { use: 'delegated', accepts }]]) }
  }
}

/** Reads the claims of a token, unverified. @returns undefined for text that is not a token */
export function unverifiedClaims(token: string): Partial<Record<keyof TokenClaims, unknown>> | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.', 2)[1] ?? '', 'base64url').toString())
    return typeof claims === 'object' && claims !== null ? claims : undefined
  } catch {
    return undefined
  }
}
