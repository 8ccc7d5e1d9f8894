// Times and rates as people write them.

/** A Rate is how many requests a visitor may send in a burst, and per second after it. */
export interface Rate {
  readonly burst: number
  readonly perSecond: number
}

const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }
const DURATION = /^(\d{1,6})([smhd])$/
const RATE = /^(\d{1,6})\/([smh])$/

/** Returns a time in milliseconds since the epoch: from now for `2h`, otherwise of a date. Undefined for what is neither. */
export function parseEnd(end: unknown): number | undefined {
  const [, count, unit = ''] = DURATION.exec(String(end)) ?? []
  const at =
    count === undefined
      ? new Date(end as string | Date).getTime()
      : Date.now() + Number(count) * UNIT_S[unit]! * 1000
  return Number.isNaN(at) || typeof end === 'number' ? undefined : at
}

/** Returns the rate, or undefined for text that is not a rate. */
export function parseRate(text: unknown): Rate | undefined {
  const [, count, unit = ''] = RATE.exec(String(text)) ?? []
  const burst = Number(count)
  return burst > 0 ? { burst, perSecond: burst / UNIT_S[unit]! } : undefined
}
