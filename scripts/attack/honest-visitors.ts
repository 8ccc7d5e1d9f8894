// Visitors who want nothing but what the relay is for, by the clock: a visit begins when it is due, however slow the one
// before it is.
import { VisitCounter, type VisitStats } from './visit-stats.ts'

/** A visitor leaves without an answer after this: such a visit failed. */
const PATIENCE_MS = 10_000

export interface Visit {
  kind: string
  everyMs: number
  /** Rejects when the answer is not what it has to be. */
  make(): Promise<void>
}

/** The visits by kind. */
export type AllFigures = ReadonlyMap<string, VisitStats>

type Tallies = ReadonlyMap<string, VisitCounter>

export class HonestVisitors {
  readonly #visits: readonly Visit[]
  readonly #timers: readonly NodeJS.Timeout[]
  readonly #underWay = new Set<Promise<void>>()
  readonly #recordings = new Set<Tallies>()

  constructor(visits: readonly Visit[]) {
    this.#visits = visits
    this.#timers = visits.map((visit) => setInterval(() => this.#begin(visit), visit.everyMs))
  }

  /** @returns what ends the recording, and resolves with its figures once all visits are over that began meanwhile */
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
    const made = make(visit, counters).finally(() => this.#underWay.delete(made))
    this.#underWay.add(made)
  }
}

async function make({ make }: Visit, counters: readonly VisitCounter[]): Promise<void> {
  const from = performance.now()
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no answer in ${PATIENCE_MS / 1000} s`)), PATIENCE_MS)
  try {
    await Promise.race([make(), late.promise])
    for (const counter of counters) counter.answered(performance.now() - from)
  } catch (error) {
    for (const counter of counters) counter.failed(error instanceof Error ? error.message : String(error))
  } finally {
    clearTimeout(timer)
  }
}
