// Describes an attack: one by clients, which runs beside honest visitors, or one on what the relay runs on.
import type { Random } from '../soak/random.ts'
import type { Patience } from './impact.ts'
import type { Target } from './target.ts'

/** The figures of an attack, by the words that the report uses. */
export type Facts = Record<string, number>

/** Bounds of the relay's process while clients attack it; each attack may give its reason for other ones. */
export interface Bounds {
  /** Resident memory at its highest, above that of before the attack, in bytes. */
  memoryGrowthMaxBytes: number
  /** Descriptors that are left once the attackers are gone, above those of before. */
  descriptorsLeftMax: number
  /** The share of one processor, in a whole run. An attack that only waits must not cost anything; others have no bound. */
  processorShareMax: number
}

interface About {
  /** One sentence for the report. */
  what: string
  /** Seconds that it lasts; a slice is for `npm test`. */
  seconds: number
  sliceSeconds: number
}

export interface ClientAttack extends About {
  by: 'clients'
  bounds?: Partial<Bounds>
  /** The patience of honest visitors, where the relay has a reason to let them wait. */
  patience?: Patience
  /** Facts that have to be at least so large in a whole run: an attack that did nothing proves nothing. */
  least: Facts
  /** Facts that may be at most so large, in a slice as well. */
  most?: Facts
  /**
   * Runs in a process of its own.
   * @param begin starts the attack's time, once it is prepared; gives its end, in milliseconds since the epoch
   */
  run(target: Target, begin: () => number, random: Random): Promise<Facts>
}

export interface Outcome {
  /** Lines of the report. */
  lines: string[]
  /** The bounds that it broke; none when all is well. */
  problems: string[]
  /** The reason for which it did not run, where it cannot. */
  skipped?: string
}

export interface ConditionAttack extends About {
  by: 'conditions'
  run(options: { seconds: number; isSlice: boolean; seed: number }): Promise<Outcome>
}

export type Attack = ClientAttack | ConditionAttack
