// The option `hold`: requests that come while the target is down.

import { isRecord, SvcError } from '@svc/sdk-core'

/** HoldOptions say how requests are kept while nothing listens at the target. */
export interface HoldOptions {
  /** How long a request is kept: seconds, minutes or hours, such as `30s`, `10m` or `2h`. */
  for: string
  /**
   * What the visitor gets: `'202'` at once, or, with `'wait'`, the target's own answer once it is there.
   * @default '202'
   */
  answer?: HoldAnswer | undefined
}

export const HOLD_ANSWERS = ['202', 'wait'] as const

/** A HoldAnswer is what the visitor of a kept request gets. */
export type HoldAnswer = (typeof HOLD_ANSWERS)[number]

/** CheckedHold cannot hold anything invalid. */
export interface CheckedHold {
  readonly keptMs: number
  readonly waits: boolean
  /** The time as the user wrote it. */
  readonly kept: string
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 }
const DURATION = /^([1-9]\d{0,5})([smh])$/
/** The longest time for which a request is kept, in milliseconds: a day. Senders give up before. */
const KEPT_MAX_MS = 86_400_000

/** @throws SvcError `invalid_option` */
export function checkHold(given: unknown): CheckedHold {
  if (!isRecord(given)) throw new SvcError('invalid_option', 'hold has to be an object with for and answer')
  const { for: kept, answer = '202', ...others } = given
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    throw new SvcError('invalid_option', `hold.${unknown} is not known; known are for, answer`)
  const [, count, unit = ''] = DURATION.exec(String(kept)) ?? []
  const keptMs = Number(count) * UNIT_MS[unit]!
  if (count === undefined || keptMs > KEPT_MAX_MS)
    throw new SvcError('invalid_option', 'hold.for has to be a time such as 30s, 10m or 2h, of a day at most')
  if (!(HOLD_ANSWERS as readonly unknown[]).includes(answer))
    throw new SvcError('invalid_option', `hold.answer has to be ${HOLD_ANSWERS.join(' or ')}`)
  return { keptMs, waits: answer === 'wait', kept: String(kept) }
}
