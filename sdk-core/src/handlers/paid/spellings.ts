// Finds the paths that a requested path may mean to a server behind the site, so that no spelling goes around a price.
//
// Servers differ in how often they decode a path, whether they join slashes, drop parameters, and resolve dots before or after
// that, and whether letter case counts. A path is judged by all that it may mean.

import { PATH_MAX_CHARS, READINGS_MAX } from './limits.ts'

/** A path without any of these means one thing: its segments, apart from letter case. */
const PLAIN = /^(?:\/[^%;\\\0-\x20?#/.]+(?:\.[^%;\\\0-\x20?#/.]+)*)*\/?$/
/** A site's own option does not name a path with one of these. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNCLEAR = /[%;\\?#\0-\x1f*]|\/\.{1,2}(?:\/|$)/
/** The parameters of a segment (RFC 3986 §3.3). */
const PARAMETERS = /;[^/]*/g
/** Dot segments, which a parser of URLs knows percent-encoded, too (URL standard, "double-dot URL path segment"). */
const DOT = /^(?:\.|%2e)$/i
const DOUBLE_DOT = /^(?:\.|%2e){2}$/i
const SLASHES = /\/{2,}/g
const ENCODED = /(?:%[\da-f]{2})+/gi

/** The steps by which servers read a path. They take them in any order, and each any number of times. */
const STEPS: readonly ((path: string) => string)[] = [
  (path) => path.replace(ENCODED, decodeBytes),
  (path) => path.replaceAll('\\', '/'),
  (path) => path.replace(PARAMETERS, ''),
  // a query or a fragment in what was decoded, and what ends a text in C
  (path) => cutAt(path, '?'),
  (path) => cutAt(path, '#'),
  (path) => cutAt(path, '\0'),
  (path) => path.replace(SLASHES, '/'),
  resolved,
]

/**
 * @param pathname of a parsed URL
 * @returns each path that it may mean, in one spelling: without a slash at its end, empty for the root. Undefined when these are
 *   so many, or the path is so long, that nobody can mean any of them
 */
export function meaningsOf(pathname: string): ReadonlySet<string> | undefined {
  if (PLAIN.test(pathname)) return new Set([spelled(pathname)])
  if (pathname.length > PATH_MAX_CHARS) return undefined
  const readings = new Set([pathname])
  for (const reading of readings) {
    for (const step of STEPS) readings.add(step(reading))
    if (readings.size > READINGS_MAX) return undefined
  }
  return new Set([...readings].map(spelled))
}

/**
 * @param path as the site's options name it, percent-encoded or not
 * @returns the path in the spelling of {@link meaningsOf}; undefined for one that may mean several
 */
export function meaningOf(path: string): string | undefined {
  const decoded = path.replace(ENCODED, decodeBytes)
  return path.startsWith('/') && !UNCLEAR.test(decoded) ? spelled(decoded) : undefined
}

function cutAt(path: string, end: string): string {
  const at = path.indexOf(end)
  return at < 0 ? path : path.slice(0, at)
}

/** Resolves dot segments (RFC 3986 §5.2.4). */
function resolved(path: string): string {
  const kept: string[] = []
  for (const segment of path.split('/').slice(1))
    if (DOUBLE_DOT.test(segment)) kept.pop()
    else if (!DOT.test(segment)) kept.push(segment)
  return `/${kept.join('/')}`
}

/** Letter case, compatible characters, and dots and spaces at the end of a name do not count: not every server has them count. */
function spelled(path: string): string {
  const names = path.split('/').map((segment) => withoutEnd(segment.normalize('NFKC').toLowerCase()))
  return names
    .filter((name) => name !== '')
    .map((name) => `/${name}`)
    .join('')
}

/** A name of dots alone stays, since it may mean another folder. */
function withoutEnd(name: string): string {
  if (name === '.') return ''
  if (name === '..') return name
  let end = name.length
  while (name[end - 1] === '.' || name[end - 1] === ' ') end -= 1
  return name.slice(0, end)
}

/** Bytes that are not UTF-8 become U+FFFD: they are no name of a route. */
function decodeBytes(encoded: string): string {
  const bytes = Uint8Array.from(encoded.slice(1).split('%'), (digits) => Number.parseInt(digits, 16))
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}
