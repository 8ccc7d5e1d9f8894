// The end of a ban: one of the usual times from now, or a time of the viewer's own zone.

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

const DURATIONS: Readonly<Record<'hour' | 'day' | 'week' | 'month', number>> = {
  hour: HOUR_MS,
  day: 24 * HOUR_MS,
  week: 168 * HOUR_MS,
  month: 720 * HOUR_MS,
}

export type BanEnd = 'never' | keyof typeof DURATIONS | 'chosen'

/**
 * @param typed value of a field for date and time, which `chosen` takes
 * @returns RFC 3339; undefined without an end
 */
export function untilOf(end: BanEnd, typed: string, now: number = Date.now()): string | undefined {
  if (end === 'never') return undefined
  // Without a zone, it is a time of the viewer's.
  return new Date(end === 'chosen' ? typed : now + DURATIONS[end]).toISOString()
}

/** Whether the time that was typed is in the future; no time is not. */
export function isFuture(typed: string, now: number = Date.now()): boolean {
  return new Date(typed).getTime() > now
}

/** A time as the field for date and time has it, in the viewer's zone, in whole minutes. */
export function fieldTime(time: number): string {
  const offset = new Date(time).getTimezoneOffset() * MINUTE_MS
  return new Date(time - offset).toISOString().slice(0, 'YYYY-MM-DDTHH:MM'.length)
}

/** The minute after a time: the earliest that {@link isFuture}. */
export function nextMinute(now: number = Date.now()): number {
  return (Math.floor(now / MINUTE_MS) + 1) * MINUTE_MS
}

/** What the field has when it is shown: the same time of tomorrow. */
export function tomorrow(now: number = Date.now()): number {
  return nextMinute(now + DURATIONS.day)
}
