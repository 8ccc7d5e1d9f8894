// The parts of an exchange's time, for its bar.

import type { EntryDetail } from './types.ts'

export interface Span {
  /** `site`: until the request went on. `target`: until its answer began. `answer`: until its end. */
  part: 'site' | 'target' | 'handler' | 'answer'
  ms: number
  /** Of the whole, in percent. */
  percent: number
}

/** Returns the parts whose ends are known. Without a target, a handler of this process answers. */
export function spansOf({ sent, head, end }: EntryDetail['times']): Span[] {
  const points: [Span['part'], number | undefined][] =
    sent === undefined
      ? [
          ['handler', head],
          ['answer', end],
        ]
      : [
          ['site', sent],
          ['target', head],
          ['answer', end],
        ]
  const spans: Omit<Span, 'percent'>[] = []
  let from = 0
  for (const [part, to] of points) {
    if (to === undefined) break
    spans.push({ part, ms: Math.max(0, to - from) })
    from = Math.max(from, to)
  }
  return spans.map((span) => ({ ...span, percent: from === 0 ? 100 / spans.length : (100 * span.ms) / from }))
}
