// Keeps signatures that were made when a client asked, and bounds how many the zone makes.

import { GcraLimiter } from '../../rate-limit/gcra.ts'
import {
  CLOCK_SKEW_MS,
  PROVEN_SIGNATURES_PER_MINUTE,
  SIGNATURE_RENEW_MS,
  SIGNATURE_VALID_MS,
  SIGNATURES_BURST,
  SIGNATURES_KEPT,
  SIGNATURES_PER_MINUTE,
} from '../zone/limits.ts'
import { packSets, type RecordSet } from '../zone/record-set.ts'
import type { Signer } from './signer.ts'

/** Who pays for a signature: nobody for names that the zone always has, since there are few of them. */
export type SignatureBudget = 'none' | 'anyone' | 'proven'

export interface Clocks {
  /** Milliseconds since the epoch, by the clock that validators have. */
  wall(): number
  /** Milliseconds of a clock that is never set. */
  monotonic(): number
}

interface Kept {
  /** RDATA of the RRSIG. */
  data: Buffer
  /** The set that it is of, packed. */
  content: string
  madeAt: number
}

export class SignatureCache {
  readonly #signer: Signer
  readonly #keptMax: number
  /** Of names that the zone always has. */
  readonly #steady: Map<string, Kept> = new Map()
  /** Of other names; when it is full, it becomes the older half. */
  #recent: Map<string, Kept> = new Map()
  #older: Map<string, Kept> = new Map()
  readonly #budgets = {
    anyone: new GcraLimiter(1, { perMinute: SIGNATURES_PER_MINUTE, burst: SIGNATURES_BURST }),
    proven: new GcraLimiter(1, { perMinute: PROVEN_SIGNATURES_PER_MINUTE, burst: SIGNATURES_BURST }),
  }

  /** @param keptMax signatures of names that the zone does not always have, in each half */
  constructor(signer: Signer, keptMax: number = SIGNATURES_KEPT) {
    this.#signer = signer
    this.#keptMax = keptMax
  }

  /**
   * @param owner the key of the set's name
   * @returns the RDATA of the RRSIG; undefined when the budget is spent
   */
  signature(owner: string, set: RecordSet, budget: SignatureBudget, clocks: Clocks): Buffer | undefined {
    const wallTime = clocks.wall()
    const key = `${set.type} ${owner}`
    const kept = this.#find(key, budget)
    const content = packSets([set])
    const holds = kept !== undefined && kept.content === content
    const age = holds ? wallTime - kept.madeAt : Number.NaN
    // A clock that was set back can make the age negative.
    if (holds && age >= -CLOCK_SKEW_MS && age < SIGNATURE_RENEW_MS) return kept.data
    if (!this.#spend(budget, clocks.monotonic())) {
      const isValid = age >= -CLOCK_SKEW_MS && age < SIGNATURE_VALID_MS - CLOCK_SKEW_MS
      return holds && isValid ? kept.data : undefined
    }
    const data = this.#signer.sign(owner, set, wallTime)
    this.#keep(key, budget, { data, content, madeAt: wallTime })
    return data
  }

  #find(key: string, budget: SignatureBudget): Kept | undefined {
    if (budget === 'none') return this.#steady.get(key)
    const recent = this.#recent.get(key)
    if (recent !== undefined) return recent
    const older = this.#older.get(key)
    if (older !== undefined) this.#keep(key, budget, older)
    return older
  }

  #keep(key: string, budget: SignatureBudget, kept: Kept): void {
    if (budget === 'none') {
      this.#steady.set(key, kept)
      return
    }
    if (this.#recent.size >= this.#keptMax) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(key, kept)
  }

  #spend(budget: SignatureBudget, now: number): boolean {
    if (budget === 'none') return true
    const limiter = this.#budgets[budget]
    if (limiter.waitMs(0, 1, now) > 0) return false
    limiter.spend(0, 1, now)
    return true
  }
}
