// Finds the paths that a requested path may mean to a server behind the site, so that no spelling goes around a price.
//
// Servers differ in how often they decode a path, and by which encoding, whether they join slashes, drop parameters, and resolve dots
// before or after that, and whether letter case, accents and invisible characters count. A path is judged by all that it may mean.

import { PATH_MAX_CHARS, READINGS_MAX } from './limits.ts'

/** A path without any of these means one thing: its segments, apart from what `spelled` leaves out. */
const PLAIN = /^(?:\/[^%;:\\\0-\x20?#/.\x7f-\uffff]+(?:\.[^%;:\\\0-\x20?#/.\x7f-\uffff]+)*)*\/?$/
/** A site's own option does not name a path with one of these. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNCLEAR = /[%;\\?#\0-\x1f*]|\/\.{1,2}(?:\/|$)/
/** The parameters of a segment (RFC 3986 §3.3). */
const PARAMETERS = /;[^/]*/g
/** A stream of a file on NTFS, such as `::$DATA`. */
const STREAM = /:[^/]*/g
/** A script that gets the rest of the path as its own (CGI, `PATH_INFO`), such as `/index.php/paid`. */
const SCRIPT = /^.*?\.(?:php\d?|f?cgi|pl|py|rb|aspx?|jsp|cfm)(?=\/)/i
/** Dot segments, which a parser of URLs knows percent-encoded, too (URL standard, "double-dot URL path segment"). */
const DOT = /^(?:\.|%2e)$/i
const DOUBLE_DOT = /^(?:\.|%2e){2}$/i
const SLASHES = /\/{2,}/g
const ENCODED = /(?:%[\da-f]{2})+/gi
/** ASCII in two, three or four bytes. */
const OVERLONG = /%(?:c[01]|e0%[89][\da-f]|f0%80%[89][\da-f])%[\da-f]{2}/gi
/** Of IIS and of old scripts. */
const ENCODED_UNIT = /%u([\da-f]{4})/gi
/** Accents, and characters that nobody sees. */
const UNSEEN = /[\p{M}\p{Cc}\p{Default_Ignorable_Code_Point}]/gu

/** The steps by which servers read a path. They take them in any order, and each any number of times. */
const STEPS: readonly ((path: string) => string)[] = [
  (path) => path.replace(ENCODED, asUtf8),
  (path) => path.replace(OVERLONG, shortened),
  (path) => path.replace(ENCODED, asLatin1),
  (path) => path.replace(ENCODED_UNIT, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16))),
  // full-width dots and slashes become real ones
  seen,
  (path) => path.split('/').map(withoutEnds).join('/'),
  (path) => path.replaceAll('\\', '/'),
  (path) => path.replace(PARAMETERS, ''),
  (path) => path.replace(STREAM, ''),
  (path) => path.replace(SCRIPT, ''),
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
  if (PLAIN.test(pathname) && !SCRIPT.test(pathname)) return new Set([spelled(pathname)])
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
  const decoded = path.replace(ENCODED, asUtf8)
  return path.startsWith('/') && !UNCLEAR.test(decoded) ? spelled(decoded) : undefined
}

/** @returns whether `path` is `prefix`, or below it: `/paid` takes `/paid/x`, but not `/paids` */
export function isBelow(path: string, prefix: string): boolean {
  if (!path.includes('~'))
    return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/')
  const segments = path.split('/')
  return prefix.split('/').every((name, at) => isNamed(segments[at], name))
}

/** `premiu~1` may be the short name of `premium answers` on a disk of Windows: up to six of its characters, or two and a hash. */
function isNamed(segment: string | undefined, name: string): boolean {
  if (segment === name) return true
  const [, head] = /^([^~]{1,6})~\d/.exec(segment ?? '') ?? []
  return head !== undefined && name.replace(/[ .]/g, '').startsWith(head.slice(0, 2))
}

/** Without what some servers do not look at. */
function seen(path: string): string {
  return path.normalize('NFKD').replace(UNSEEN, '')
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

/**
 * Letter case, accents, invisible characters, and dots and spaces around a name do not count: not every server has them count. The
 * upper case of some letters is that of others, or two.
 */
function spelled(path: string): string {
  const folded = seen(path).toLowerCase().toUpperCase().toLowerCase()
  const names = folded.split('/').map(withoutEnds)
  return names
    .filter((name) => name !== '')
    .map((name) => `/${name}`)
    .join('')
}

/** `..` stays, since it means another folder. */
function withoutEnds(name: string): string {
  const trimmed = name.trim()
  if (trimmed === '..') return trimmed
  let end = trimmed.length
  while (trimmed[end - 1] === '.' || trimmed[end - 1] === ' ') end -= 1
  return trimmed.slice(0, end)
}

function bytesOf(encoded: string): Uint8Array {
  return Uint8Array.from(encoded.slice(1).split('%'), (digits) => Number.parseInt(digits, 16))
}

/** Bytes that are not UTF-8 become U+FFFD: they are no name of a route. */
function asUtf8(encoded: string): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytesOf(encoded))
}

function asLatin1(encoded: string): string {
  return String.fromCharCode(...bytesOf(encoded))
}

/** Old decoders take a character in more bytes than it needs (RFC 3629 §10), and look at the last six bits of each alone. */
function shortened(overlong: string): string {
  const [first = 0, ...more] = bytesOf(overlong)
  return String.fromCharCode(more.reduce((code, byte) => (code << 6) | (byte & 0x3f), first & 1))
}
