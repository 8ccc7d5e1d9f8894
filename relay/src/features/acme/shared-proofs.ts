// Shows proofs on all machines of the relay: the authority may connect to any of them.

import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../../core/log/log.ts'
import { ORDER_DEADLINE_MS, PROOF_SPREAD_MS, PROVEN_NAMES_MAX } from './limits.ts'
import type { OrderSharing, PublishedProof } from './order-sharing.ts'
import type { Prover } from './proofs.ts'

interface SharedProofsParts {
  sharing: Pick<OrderSharing, 'publishProof' | 'onProof'>
  /** Provers that show the proofs of other machines here. Proofs of other types are ignored. */
  provers: readonly Prover[]
  log: Logger
}

/** A proof of another machine. */
interface Shown {
  hide: Promise<() => Promise<void>>
  /** Removes the proof when the other machine does not, such as after a crash. */
  timer: NodeJS.Timeout
}

export class SharedProofs {
  readonly #parts: SharedProofsParts
  /** By type and name, for `dns-01` also by value. */
  readonly #shown = new Map<string, Shown>()

  constructor(parts: SharedProofsParts) {
    this.#parts = parts
    parts.sharing.onProof((proof) => void this.#follow(proof))
  }

  /** Returns a prover that also shows each proof on the other machines. */
  share(prover: Prover): Prover {
    const { sharing } = this.#parts
    const { type } = prover
    return {
      type,
      show: async (name, keyAuthorization, signal) => {
        const hide = await prover.show(name, keyAuthorization, signal)
        const proof = { type, name, keyAuthorization }
        await sharing.publishProof({ ...proof, isShown: true })
        // A name server applies a change a moment after it receives it.
        if (type === 'dns-01') await pause(PROOF_SPREAD_MS)
        return async () => {
          void sharing.publishProof({ ...proof, isShown: false })
          await hide()
        }
      },
    }
  }

  close(): void {
    for (const { timer } of this.#shown.values()) clearTimeout(timer)
  }

  /** Never rejects. */
  async #follow({ type, name, keyAuthorization, isShown }: PublishedProof): Promise<void> {
    // A name has only its newest proof by `tls-alpn-01`, but any number of records.
    const key = type === 'dns-01' ? `${type} ${name} ${keyAuthorization}` : `${type} ${name}`
    if (this.#shown.has(key)) await this.#hide(key)
    const prover = this.#parts.provers.find((prover) => prover.type === type)
    if (!isShown || prover === undefined || this.#shown.size >= PROVEN_NAMES_MAX) return
    const deadline = AbortSignal.timeout(ORDER_DEADLINE_MS)
    // Registered at once: the other machine may remove the proof before it is shown.
    const hide = prover.show(name, keyAuthorization, deadline).catch((error) => {
      const { message: reason } = error as Error
      this.#parts.log.warn({ name, reason }, 'a proof of another machine cannot be shown here')
      return async (): Promise<void> => {}
    })
    const timer = setTimeout(() => void this.#hide(key), ORDER_DEADLINE_MS).unref()
    this.#shown.set(key, { hide, timer })
  }

  async #hide(key: string): Promise<void> {
    const shown = this.#shown.get(key)
    if (shown === undefined) return
    this.#shown.delete(key)
    clearTimeout(shown.timer)
    const hide = await shown.hide
    await hide()
  }
}
