// Conditional requests (RFC 9110 §13): the preconditions, and If-Range.

export interface Validators {
  /** A strong entity tag (§8.8.3), quotes included. */
  etag: string
  /** The time of the last change, in whole seconds since the epoch, as Last-Modified has it (§8.8.2). */
  modifiedSeconds: number
}

/**
 * Evaluates the preconditions in the order of §13.2.2.
 * @returns the status to answer instead of the file, if any
 */
export function evaluatePreconditions(
  headers: Headers,
  { etag, modifiedSeconds }: Validators,
): 304 | 412 | undefined {
  const ifMatch = headers.get('if-match')
  const unmodifiedSince = seconds(headers.get('if-unmodified-since'))
  if (ifMatch !== null ? !matches(ifMatch, etag, false) : isAfter(modifiedSeconds, unmodifiedSince))
    return 412
  const ifNoneMatch = headers.get('if-none-match')
  if (ifNoneMatch !== null) return matches(ifNoneMatch, etag, true) ? 304 : undefined
  const modifiedSince = seconds(headers.get('if-modified-since'))
  return modifiedSince !== undefined && !isAfter(modifiedSeconds, modifiedSince) ? 304 : undefined
}

/** Returns whether the Range field applies, because the visitor's part is of this version (§13.1.5). */
export function ifRangeHolds(headers: Headers, { etag, modifiedSeconds }: Validators): boolean {
  const ifRange = headers.get('if-range')
  if (ifRange === null) return true
  if (ifRange.endsWith('"')) return ifRange === etag
  // A date is a strong validator once its second has passed (§8.8.2.2).
  return seconds(ifRange) === modifiedSeconds && Date.now() >= (modifiedSeconds + 1) * 1000
}

/**
 * Compares strongly for §13.1.1 and weakly for §13.1.2. The SDK's own tags contain no commas, so others may be split at
 * them.
 */
function matches(list: string, etag: string, isWeak: boolean): boolean {
  if (list.trim() === '*') return true
  return list.split(',').some((tag) => (isWeak ? tag.trim().replace(/^W\//, '') : tag.trim()) === etag)
}

/** @returns undefined for a value that is not a date, whose field is ignored (§13.1.3, §13.1.4) */
function seconds(date: string | null): number | undefined {
  const time = Date.parse(date ?? '')
  return Number.isNaN(time) ? undefined : Math.floor(time / 1000)
}

function isAfter(modified: number, limit: number | undefined): boolean {
  return limit !== undefined && modified > limit
}
