// Describes a family of benchmarks: entries, one after the other, as they are measured.
import type { Entry } from './entry.ts'

export interface FamilyOptions {
  /** Alternating runs of each side, of which the median counts. */
  runs: number
}

export type Family = (options: FamilyOptions) => AsyncIterable<Entry>
