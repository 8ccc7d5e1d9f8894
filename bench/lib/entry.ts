// One line of a result: what we measured, beside a peer or a limit.

/** The direction in which a figure is better. */
type Better = 'more' | 'less'

export interface Entry {
  name: string
  unit: string
  ours: number | null
  theirs: number | null
  /** The name of `theirs`, or how to install it when it is missing. */
  peer: string
  /** Above 1 we are ahead, whichever way the unit counts. */
  ratio: number | null
  /** The least ratio that is wanted; null where the peer is there for comparison only. */
  target: number | null
  met: boolean | null
}

export interface Question {
  name: string
  unit: string
  better: Better
  peer: string
  /** Default: to be as good. */
  target?: number | null
}

export function compared(question: Question, ours: number, theirs: number): Entry {
  const { name, unit, better, peer, target = 1 } = question
  // None of a limit of none is as good.
  const ratio = ours === theirs ? 1 : better === 'more' ? ours / theirs : theirs / ours
  return {
    name,
    unit,
    ours: rounded(ours),
    theirs: rounded(theirs),
    peer,
    ratio: rounded(ratio),
    target: target === null ? null : rounded(target),
    met: target === null ? null : ratio >= target,
  }
}

/** Against a number that must not be passed, or must be reached. */
export function limited(question: Omit<Question, 'peer' | 'target'>, ours: number, limit: number): Entry {
  return compared({ ...question, peer: 'limit' }, ours, limit)
}

/** A measurement that cannot be made here, with what would make it possible. */
export function missing(question: Question, ours: number | null, remedy: string): Entry {
  const { name, unit, peer, target = 1 } = question
  return {
    name,
    unit,
    ours: ours === null ? null : rounded(ours),
    theirs: null,
    peer: `${peer}: ${remedy}`,
    ratio: null,
    target: target === null ? null : rounded(target),
    met: null,
  }
}

/** Three digits say all that such measurements know. */
function rounded(value: number): number {
  return Number(value.toPrecision(3))
}
