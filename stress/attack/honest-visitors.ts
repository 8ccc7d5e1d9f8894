// Visitors who want nothing but what the relay is for, by the clock: a visit begins when it is due, however slow the one
// before it is.
import { inTime } from '../honest-visitor.ts'
import { VisitCounter, type VisitStats } from './visit-stats.ts'

/** A visitor leaves without an answer after this: such a visit failed. */
const PATIENCE_MS = 10_000

export interface Visit {
  kind: string
  everyMs: number
  /** Rejects when the answer is not what it has to be, or when a client that asks again has done so for `patienceMs`. */
  make(patienceMs: number): Promise<void>
}

/** The visits by kind. */
export type AllFigures = ReadonlyMap<string, VisitStats>

export interface Visitors {
  /** @returns what ends the recording, and resolves with its figures once all visits are over that began meanwhile */
  record(): () => Promise<AllFigures>
  stop(): Promise<void>
}

type Tallies = ReadonlyMap<string, VisitCounter>

export class HonestVisitors implements Visitors {
  readonly #visits: readonly Visit[]
  readonly #timers: readonly NodeJS.Timeout[]
  readonly #underWay = new Set<Promise<void>>()
  readonly #recordings = new Set<Tallies>()

  constructor(visits: readonly Visit[]) {
    this.#visits = visits
    this.#timers = visits.map((visit) => setInterval(() => this.#begin(visit), visit.everyMs))
  }

  record(): () => Promise<AllFigures> {
    const counters = new Map(this.#visits.map(({ kind }) => [kind, new VisitCounter()]))
    this.#recordings.add(counters)
    return async () => {
      this.#recordings.delete(counters)
      await Promise.all(this.#underWay)
      return new Map([...counters].map(([kind, counter]) => [kind, counter.figures]))
    }
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all(this.#underWay)
  }

  #begin(visit: Visit): void {
    const counters = [...this.#recordings].map((recording) => recording.get(visit.kind)!)
    const made = countedVisit(visit, counters, PATIENCE_MS).finally(() => this.#underWay.delete(made))
    this.#underWay.add(made)
  }
}

/** Makes a visit, and counts its outcome; never rejects. */
export async function countedVisit(
  { make }: Visit,
  counters: readonly VisitCounter[],
  patienceMs: number,
): Promise<void> {
  const from = performance.now()
  try {
    await inTime(make(patienceMs), patienceMs)
    for (const counter of counters) counter.answered(performance.now() - from)
  } catch (error) {
    for (const counter of counters) counter.failed(error instanceof Error ? error.message : String(error))
  }
}
