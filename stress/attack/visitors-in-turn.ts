// The honest visitors of a slice: one comes when the one before has left, kind by kind, so that a slow machine never has more of
// them than it can serve, and each recording has at least one of each kind. What is judged is whether they are served, not when.
import { setTimeout as pause } from 'node:timers/promises'
import { type AllFigures, countedVisit, type Visit, type Visitors } from './honest-visitors.ts'
import { VisitCounter } from './visit-stats.ts'

/** A visit that has no answer by then has hung: no machine is so slow. */
const PATIENCE_MS = 90_000
/** Milliseconds between two rounds. */
const REST_MS = 100

export class VisitorsInTurn implements Visitors {
  readonly #visits: readonly Visit[]

  constructor(visits: readonly Visit[]) {
    this.#visits = visits
  }

  record(): () => Promise<AllFigures> {
    const over = new AbortController()
    const figures = makeRounds(this.#visits, over.signal)
    return async () => {
      over.abort()
      return await figures
    }
  }

  /** Nobody comes while there is no recording. */
  async stop(): Promise<void> {}
}

/** Makes visits until `over`, at least one of each kind. */
async function makeRounds(visits: readonly Visit[], over: AbortSignal): Promise<AllFigures> {
  const counters = new Map(visits.map(({ kind }) => [kind, new VisitCounter()]))
  do {
    for (const visit of visits) await countedVisit(visit, [counters.get(visit.kind)!], PATIENCE_MS)
    await pause(REST_MS, undefined, { signal: over }).catch(() => {})
  } while (!over.aborted)
  return new Map([...counters].map(([kind, counter]) => [kind, counter.figures]))
}
