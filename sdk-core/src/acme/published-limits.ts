// Counts what an authority limits, from the times of what was spent, which outlive the page.

import { LIMITS, type PublishedLimit } from './limits.ts'

/** The times of events, in milliseconds since the epoch, oldest first. */
export type Spent = readonly number[]

/** Returns the list with one more event, without those that no longer count. */
export function spend(limit: PublishedLimit, spent: Spent, now: number): number[] {
  return [...counted(limit, spent, now), now].slice(-limit.max)
}

/** Returns the milliseconds until one more event is allowed: 0 when it is now. */
export function waitMs(limit: PublishedLimit, spent: Spent, now: number): number {
  const times = counted(limit, spent, now)
  return times.length < limit.max ? 0 : times[times.length - limit.max]! + limit.windowMs - now
}

/** A clock that was set back must not let an event count for longer than the window. */
function counted({ windowMs }: PublishedLimit, spent: Spent, now: number): number[] {
  return spent.filter((time) => time <= now && now - time < windowMs)
}

/** Returns a stored list of times; an empty one for anything else. */
export function timesOf(value: unknown): number[] {
  return Array.isArray(value) ? value.filter((time) => Number.isFinite(time)).slice(-LIMITS.orders.max) : []
}
