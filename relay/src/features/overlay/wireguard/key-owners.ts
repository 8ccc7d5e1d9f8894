// Finds out which of several relays has the WireGuard key that all of them claim: asks at the overlay address of the
// key, where only the one that has the key can answer.

import { ONLY_OWN_DESCRIPTOR, PATH } from '@svc/protocol'
import { monotonic } from '../../../core/clock.ts'
import { askPeer } from '../ask-peer.ts'
import type { OverlayNetwork } from '../overlay-network.ts'
import { OVERLAY_PORT } from '../settings.ts'
import { CLAIM_ASK_AGAIN_MS, CLAIM_QUESTION_DEADLINE_MS, CLAIM_QUESTIONS_PARALLEL_MAX } from './limits.ts'
import { overlayAddressOf } from './overlay-address.ts'

/** @returns the identity that answers for the key. @throws when nobody answers as a relay does */
export type AskOwner = (publicKey: string, signal: AbortSignal) => Promise<string>

interface Owner {
  /** Lower case with `0x`; undefined: nobody has answered yet. */
  identity: string | undefined
  /** Relay time of the last question. */
  askedAt: number
}

export class KeyOwners {
  readonly #ask: AskOwner
  readonly #onChange: () => void
  readonly #signal: AbortSignal
  /** By the public key. */
  readonly #owners = new Map<string, Owner>()
  /** Keys whose question is waiting. */
  readonly #waiting = new Set<string>()
  #running = 0

  /** @param onChange called when an owner has answered */
  constructor(ask: AskOwner, onChange: () => void, signal: AbortSignal) {
    this.#ask = ask
    this.#onChange = onChange
    this.#signal = signal
  }

  /**
   * The one of these relays that answered for the key.
   * @param identities of the relays that claim it
   * @param isReachable whether packets can pass to the holder of the key, so that it can be asked
   */
  ownerOf(publicKey: string, identities: readonly string[], isReachable: boolean): string | undefined {
    const owner = this.#owners.get(publicKey)
    if (owner?.identity !== undefined && identities.includes(owner.identity)) return owner.identity
    const isDue = owner === undefined || monotonic() - owner.askedAt >= CLAIM_ASK_AGAIN_MS
    if (isReachable && isDue) {
      this.#waiting.add(publicKey)
      this.#next()
    }
    return undefined
  }

  /** Forgets all keys but these. */
  keep(publicKeys: { has(publicKey: string): boolean }): void {
    for (const held of [this.#owners, this.#waiting])
      for (const key of held.keys()) if (!publicKeys.has(key)) held.delete(key)
  }

  #next(): void {
    for (const publicKey of this.#waiting) {
      if (this.#running >= CLAIM_QUESTIONS_PARALLEL_MAX) return
      this.#waiting.delete(publicKey)
      this.#running += 1
      void this.#find(publicKey)
    }
  }

  /** Never rejects: a relay that does not answer is asked again after a while. */
  async #find(publicKey: string): Promise<void> {
    const owner: Owner = { identity: undefined, askedAt: monotonic() }
    this.#owners.set(publicKey, owner)
    const deadline = AbortSignal.timeout(CLAIM_QUESTION_DEADLINE_MS)
    owner.identity = await this.#ask(publicKey, AbortSignal.any([deadline, this.#signal])).catch(
      () => undefined,
    )
    this.#running -= 1
    if (owner.identity !== undefined) this.#onChange()
    if (!this.#signal.aborted) this.#next()
  }
}

/**
 * Asks over the overlay. The answer need not be signed: descriptors are public, so a signature would not prove who
 * sends one, and the answer counts only among relays whose own descriptors name the key.
 */
export function askOwnerOver(network: OverlayNetwork): AskOwner {
  return async (publicKey, signal) => {
    const peer = { identity: '', origin: '', overlayAddress: overlayAddressOf(publicKey), port: OVERLAY_PORT }
    const answer = await askPeer(network, peer, { path: `${PATH.discovery}?${ONLY_OWN_DESCRIPTOR}` }, signal)
    if (answer.socket !== undefined) {
      answer.socket.destroy()
      throw new Error('the relay answers with an upgrade')
    }
    const { data } = JSON.parse(answer.text) as { data?: { relays?: unknown } }
    const [own] = Array.isArray(data?.relays) ? data.relays : []
    const { address, wireguard_public_key: key } = own ?? {}
    if (typeof address !== 'string' || key !== publicKey) throw new Error('the relay does not name the key')
    return address.toLowerCase()
  }
}
