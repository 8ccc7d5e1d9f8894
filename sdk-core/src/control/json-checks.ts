// Checks the JSON of a relay's answer: the type and bounds of each value.

import { SvcError } from '../errors.ts'

/** Returns whether `value` is an object with string keys. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Returns `value` as an object with string keys.
 * @throws SvcError `unexpected_answer` when it is something else
 */
export function requireRecord(value: unknown, what: string): Record<string, unknown> {
  if (!isRecord(value)) throw unexpected(what, 'an object')
  return value
}

/**
 * Returns the field `name`, a string that matches `pattern`.
 * @throws SvcError `unexpected_answer`
 */
export function requireText(from: Record<string, unknown>, name: string, pattern: RegExp): string {
  const value = from[name]
  if (typeof value !== 'string' || !pattern.test(value))
    throw unexpected(name, `a string like ${pattern.source}`)
  return value
}

/**
 * Returns the field `name`, an RFC 3339 date-time, in milliseconds since the epoch.
 * @throws SvcError `unexpected_answer`
 */
export function requireTime(from: Record<string, unknown>, name: string): number {
  const value = Date.parse(requireText(from, name, RFC_3339))
  if (Number.isNaN(value)) throw unexpected(name, 'a date-time')
  return value
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** The message leaves out the value, because it may be a token. */
function unexpected(what: string, wanted: string): SvcError {
  return new SvcError('unexpected_answer', `the relay's answer has no valid ${what}: ${wanted} is expected`)
}
