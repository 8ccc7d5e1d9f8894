// Caches signatures that are made on demand, and limits their rate.

import { GcraLimiter, NETWORK_SLOTS } from '@svc/node-kit/gcra'
import {
  CLOCK_SKEW_MS,
  NETWORK_SIGNATURES_BURST,
  NETWORK_SIGNATURES_PER_MINUTE,
  PROVEN_SIGNATURES_PER_MINUTE,
  SIGNATURE_RENEW_MS,
  SIGNATURE_VALID_MS,
  SIGNATURES_BURST,
  SIGNATURES_KEPT,
  SIGNATURES_PER_MINUTE,
} from '../zone/limits.ts'
import { packSets, type RecordSet } from '../zone/record-set.ts'
import { type KeptSignature, KeptSignatures } from './kept-signatures.ts'
import type { Signer } from './signer.ts'

/**
 * Whose budget pays for a signature: nobody's for names that the zone always has, which are few; that of all
 * addresses that may be spoofed; or that of a network, by its number, with a proven address.
 */
export type SignaturePayer = 'nobody' | 'anyone' | { network: number }

export interface Clocks {
  /** The wall clock, as of validators, in milliseconds since the epoch. */
  wall(): number
  /** A monotonic clock, in milliseconds. */
  monotonic(): number
}

export class SignatureCache {
  readonly #signer: Signer
  /** The signatures of names that the zone always has. */
  readonly #steady: Map<string, KeptSignature> = new Map()
  /** The signatures of other names. */
  readonly #varying: KeptSignatures
  readonly #anyone = new GcraLimiter(1, { perMinute: SIGNATURES_PER_MINUTE, burst: SIGNATURES_BURST })
  readonly #proven = new GcraLimiter(1, { perMinute: PROVEN_SIGNATURES_PER_MINUTE, burst: SIGNATURES_BURST })
  readonly #networks = new GcraLimiter(NETWORK_SLOTS, {
    perMinute: NETWORK_SIGNATURES_PER_MINUTE,
    burst: NETWORK_SIGNATURES_BURST,
  })

  /** @param keptMax the limit for {@link KeptSignatures} */
  constructor(signer: Signer, keptMax: number = SIGNATURES_KEPT) {
    this.#signer = signer
    this.#varying = new KeptSignatures(keptMax)
  }

  /**
   * @param owner the key of the set's name
   * @returns the RDATA of the RRSIG; undefined when the budget is spent
   */
  signature(owner: string, set: RecordSet, payer: SignaturePayer, clocks: Clocks): Buffer | undefined {
    const wallTime = clocks.wall()
    const key = `${set.type} ${owner}`
    const signatures = payer === 'nobody' ? this.#steady : this.#varying
    const kept = signatures.get(key)
    const content = packSets([set])
    const holds = kept !== undefined && kept.content === content
    const age = holds ? wallTime - kept.madeAt : Number.NaN
    // Setting the clock back can make the age negative.
    if (holds && age >= -CLOCK_SKEW_MS && age < SIGNATURE_RENEW_MS) return kept.data
    if (!this.#spend(payer, clocks.monotonic())) {
      const isValid = age >= -CLOCK_SKEW_MS && age < SIGNATURE_VALID_MS - CLOCK_SKEW_MS
      return holds && isValid ? kept.data : undefined
    }
    const data = this.#signer.sign(owner, set, wallTime)
    signatures.set(key, { data, content, madeAt: wallTime })
    return data
  }

  /** A network that has exhausted its share takes nothing from the common budget. */
  #spend(payer: SignaturePayer, now: number): boolean {
    if (payer === 'nobody') return true
    if (payer === 'anyone') return spendAll([[this.#anyone, 0]], now)
    const ofNetwork: Share = [this.#networks, payer.network]
    return spendAll([ofNetwork, [this.#proven, 0]], now)
  }
}

/** A limiter, and the slot in it. */
type Share = [limiter: GcraLimiter, slot: number]

/** Spends one unit of each share, or none if one of them is exhausted. */
function spendAll(shares: readonly Share[], now: number): boolean {
  if (shares.some(([limiter, slot]) => limiter.waitMs(slot, 1, now) > 0)) return false
  for (const [limiter, slot] of shares) limiter.spend(slot, 1, now)
  return true
}
