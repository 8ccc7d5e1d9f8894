// Measures what honest visitors of a relay notice, beside those of another relay that no attacker reaches: when those wait
// longer as well, the machine is busy. A slice is too short to judge times, and asks whether visitors are served.
import { setTimeout as pause } from 'node:timers/promises'
import type { AllFigures } from './honest-visitors.ts'
import { RelayUnderAttack } from './relay-under-attack.ts'
import type { VisitStats } from './visit-stats.ts'

/** Failures beyond those of the other relay, which has none unless the machine is far too busy. */
const FAILURES_MAX = 0
/** Milliseconds by which the median may rise: a person takes that for at once (Nielsen, Usability Engineering, §5.5). */
const MEDIAN_RISE_MAX_MS = 100
/** Milliseconds by which the slowest 1 % may rise: that does not interrupt a thought (the same section). */
const TAIL_RISE_MAX_MS = 1000
/**
 * Each rise counts above this many times what visitors of the other relay wait: of a processor that is busy with other things,
 * both relays get the same share, and the one that is attacked has more to do with it.
 */
const SHARE = 3
/** Visits below which the median is not judged. */
const MEDIAN_ANSWERS_MIN = 30
/** Visits below which the slowest 1 % is not judged: it is one visit, which a moment of the machine can spoil. */
const TAIL_ANSWERS_MIN = 100

export interface Watched {
  figures: AllFigures
  /** The figures of the relay that is not attacked; a slice, which judges no times, has none. */
  beside: AllFigures | undefined
}

let control: Promise<RelayUnderAttack> | undefined

/** @returns what the action gave, and what was noticed while it ran */
export async function watch<T>(
  relay: RelayUnderAttack,
  action: () => Promise<T>,
): Promise<Watched & { result: T }> {
  if (!relay.isSlice) control ??= RelayUnderAttack.start({ isSlice: false })
  const relays = control === undefined ? [relay] : [relay, await control]
  const stops = relays.map(({ visitors }) => visitors.record())
  const result = await action()
  const [figures, beside] = await Promise.all(stops.map((stop) => stop()))
  return { result, figures: figures!, beside }
}

export async function watchFor(relay: RelayUnderAttack, seconds: number): Promise<Watched> {
  return await watch(relay, () => pause(seconds * 1000))
}

/** Ends the relay that is not attacked. */
export async function stopControl(): Promise<void> {
  await (await control)?.stop()
}

/** The effects that honest visitors may notice. */
export interface Patience {
  /** Kinds of visits that need not succeed. */
  except?: ReadonlySet<string>
  /** Milliseconds by which the median may rise. */
  medianMs?: number
  /** Milliseconds by which the slowest 1 % may rise. */
  tailMs?: number
}

/** @returns what they noticed */
export function noticed(
  before: Watched,
  during: Watched,
  { except = new Set(), medianMs = MEDIAN_RISE_MAX_MS, tailMs = TAIL_RISE_MAX_MS }: Patience = {},
): string[] {
  return [...during.figures].flatMap(([kind, now]) => {
    if (except.has(kind)) return []
    const beside = during.beside?.get(kind)
    const problems: string[] = []
    if (now.answers + now.failures === 0) problems.push('nobody came: nothing was measured')
    if (now.failures > (beside?.failures ?? 0) + FAILURES_MAX)
      problems.push(`${now.failures} of ${now.answers + now.failures} failed: ${now.reason}`)
    // a machine on which no visitor was served proves nothing
    if (beside !== undefined && beside.answers > 0)
      problems.push(...late(now, before.figures.get(kind)!, beside, { medianMs, tailMs }))
    return problems.map((problem) => `honest ${kind}: ${problem}`)
  })
}

function late(
  now: VisitStats,
  usual: VisitStats,
  beside: VisitStats,
  { medianMs, tailMs }: Required<Pick<Patience, 'medianMs' | 'tailMs'>>,
): string[] {
  const most = (quantile: 'p50' | 'p99', rise: number): number =>
    SHARE * Math.max(usual[quantile] || 0, beside[quantile] || 0) + rise
  const problems: string[] = []
  if (now.answers >= MEDIAN_ANSWERS_MIN && now.p50 > most('p50', medianMs))
    problems.push(`half of them took more than ${ms(now.p50)}, those of the other relay ${ms(beside.p50)}`)
  if (now.answers >= TAIL_ANSWERS_MIN && now.p99 > most('p99', tailMs))
    problems.push(`1 % took more than ${ms(now.p99)}, of the other relay’s ${ms(beside.p99)}`)
  return problems
}

/** A table: before, during, and at the other relay during that, where there is one. */
export function describe(before: Watched, during: Watched): string[] {
  const rows = [...during.figures].map(([kind, now]) => {
    const [usual, beside] = [before.figures.get(kind)!, during.beside?.get(kind)]
    const times = [usual, now, ...(beside ? [beside] : [])].flatMap(({ p50, p99 }) => [p50, p99]).map(ms)
    return [kind, `${now.answers}`, `${now.failures}`, ...times]
  })
  const headings = during.beside ? HEADINGS : HEADINGS.slice(0, -HEADINGS_BESIDE)
  return [headings, ...rows].map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(9) : cell.padStart(WIDTHS[column]!))).join(' '),
  )
}

const HEADINGS = ['honest', 'answers', 'failures', 'p50 before', 'p99', 'p50 now', 'p99', 'p50 beside', 'p99']
const HEADINGS_BESIDE = 2
const WIDTHS = HEADINGS.map((heading) => Math.max(8, heading.length))

function ms(value: number): string {
  return Number.isNaN(value) ? '–' : `${value.toFixed(value < 10 ? 1 : 0)} ms`
}
