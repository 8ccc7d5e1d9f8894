// Chooses the gateway of each lease that prefers one, and remembers which ones its SDK could not use.

import type { ChosenGateway, GatewayChoice } from '../../../core/api/handlers/sdk.ts'
import type { Lease } from '../../../core/lease/lease.ts'
import { FAILED_GATEWAY_MS, FAILED_GATEWAYS_MAX } from '../limits.ts'
import type { OverlayPeer } from '../overlay-network.ts'
import type { VerifiedRelays } from '../verified-relays.ts'
import type { AvailableGateways } from './available-gateways.ts'

interface Choice {
  /** Identity of the gateway; undefined: the lease is direct. */
  gateway: string | undefined
  /** True when the next call chooses again. */
  isOpen: boolean
  /** Identity of each failed gateway → time of the failure, by the monotonic clock; the oldest first. */
  failed: Map<string, number>
}

interface Parts {
  available: Pick<AvailableGateways, 'get' | typeof Symbol.iterator>
  relays: VerifiedRelays
  /** Address of this relay's identity, and the origin of its URL. */
  identity: string
  origin: string
}

export class GatewaysOfLeases implements GatewayChoice {
  readonly #parts: Parts
  readonly #choices = new WeakMap<Lease, Choice>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  of(lease: Lease): ChosenGateway | undefined {
    const choice = this.#choiceOf(lease)
    const { available, relays, identity: ingress } = this.#parts
    const isLost = choice.gateway !== undefined && available.get(choice.gateway) === undefined
    if (choice.isOpen || isLost) choice.gateway = this.#choose(choice)?.identity
    choice.isOpen = false
    const relay = choice.gateway === undefined ? undefined : relays.of(choice.gateway)
    if (relay === undefined) return undefined
    const { origin, descriptor, address: gateway } = relay
    return { origin, descriptor, delegation: { ingress, gateway } }
  }

  failed(lease: Lease, url: string): void {
    const choice = this.#choiceOf(lease)
    const origin = URL.parse(url)?.origin
    const current = choice.gateway === undefined ? undefined : this.#parts.relays.of(choice.gateway)
    if (choice.gateway !== undefined && (origin === current?.origin || current === undefined)) {
      choice.failed.delete(choice.gateway)
      choice.failed.set(choice.gateway, performance.now())
      if (choice.failed.size > FAILED_GATEWAYS_MAX) choice.failed.delete(choice.failed.keys().next().value!)
      choice.isOpen = true
    }
    // A lease that cannot be direct may try a gateway.
    if (origin === this.#parts.origin) choice.isOpen = true
  }

  /** Returns whether the lease's sessions come through this gateway now. */
  isChosen(lease: Lease, identity: string): boolean {
    return this.#choices.get(lease)?.gateway === identity
  }

  #choiceOf(lease: Lease): Choice {
    const known = this.#choices.get(lease)
    if (known !== undefined) return known
    const choice = { gateway: undefined, isOpen: true, failed: new Map<string, number>() }
    this.#choices.set(lease, choice)
    return choice
  }

  /** A random available gateway that has not failed; undefined: the lease uses the direct endpoint. */
  #choose({ failed }: Choice): OverlayPeer | undefined {
    const now = performance.now()
    for (const [identity, at] of failed) if (now - at >= FAILED_GATEWAY_MS) failed.delete(identity)
    const candidates = [...this.#parts.available].filter(({ identity }) => !failed.has(identity))
    return candidates[Math.floor(Math.random() * candidates.length)]
  }
}
