// The allowed paths of a snapshot's files.

import { CACHE_PATH_MAX_CHARS } from './static-cache-limits.ts'

/** Control characters, and lone surrogates, which UTF-8 cannot encode. */
const UNUSABLE = /[\p{Cc}\p{Cs}]/u
/** Percent-encoded control characters, and `%`, `.`, `/` and `\`. */
const ENCODED_STRUCTURE = /%(?:[01][\da-f]|25|2[ef]|5c|7f)/i
/** Windows opens a device for such a name, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|(?:com|lpt)[\d¹²³])(?:\.|$)/i
/** Windows removes these, so that the name would mean another file. */
const REMOVED_END = /[. ]$/

/**
 * Returns whether a file of a snapshot may have this path. A visitor's request names a file when its path, percent-decoded once,
 * is exactly `/` and this path.
 *
 * The rules protect against less exact readers, so that no file is mistaken for another one, or for something outside
 * the snapshot: proxies that decode twice, file systems that normalize Unicode, relays and visitors that store the files
 * under their paths on Windows. Paths are case-sensitive, as in URLs.
 */
export function isSafeCachePath(path: string): boolean {
  return problemOfCachePath(path) === undefined
}

/** Compares paths, for `Array.prototype.sort`, by their UTF-8 bytes, so that SDKs in every language agree. */
export function compareCachePaths(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) {
    const difference = rank(one.charCodeAt(at)) - rank(other.charCodeAt(at))
    if (difference !== 0) return difference
  }
  return one.length - other.length
}

/** @returns what is wrong with a path, as the end of a sentence that begins with it; undefined for a valid one */
export function problemOfCachePath(path: string): string | undefined {
  if (path.length > CACHE_PATH_MAX_CHARS) return `is longer than ${CACHE_PATH_MAX_CHARS} characters`
  if (UNUSABLE.test(path)) return 'has a control character or half a character'
  if (path.includes('\\')) return 'has a backslash: segments are separated by /'
  if (ENCODED_STRUCTURE.test(path))
    return 'would be another path if it were percent-decoded: paths are not percent-encoded'
  if (path !== path.normalize('NFC')) return 'is not in Unicode normalization form C (NFC)'
  for (const segment of path.split('/')) {
    const problem = problemOfSegment(segment)
    if (problem !== undefined) return problem
  }
  return undefined
}

function problemOfSegment(segment: string): string | undefined {
  if (segment === '') return 'has an empty segment: paths are relative, with one / between segments'
  if (segment === '.' || segment === '..') return `has the segment ${segment}`
  if (segment.includes(':')) return 'has a colon, which leads to another drive or stream on Windows'
  if (REMOVED_END.test(segment)) return 'has a segment that ends with a dot or a blank, which Windows removes'
  if (DEVICE.test(segment)) return 'has a segment that is the name of a device on Windows'
  return undefined
}

/** Surrogates stand for characters that sort after all others. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}
