// Finds the paths that a requested path may mean to a server behind the site, so that no spelling evades a price.
//
// Servers differ in how often they decode a path, and by which encoding, whether they join slashes, drop parameters, and resolve dots
// before or after that, and whether letter case, accents and invisible characters count. A path costs the most of all that it may mean.

import { PATH_MAX_CHARS, READINGS_MAX } from './limits.ts'

/** A path with only one meaning: its segments, without what `spelled` removes. */
const PLAIN = /^(?:\/[^%;:\\\0-\x20?#/.\x7f-\uffff]+(?:\.[^%;:\\\0-\x20?#/.\x7f-\uffff]+)*)*\/?$/
/** Characters that a path in the site's options must not have. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
const UNCLEAR = /[%;\\?#\0-\x1f*]|\/\.{1,2}(?:\/|$)/
/** The parameters of a segment (RFC 3986 §3.3). */
const PARAMETERS = /;[^/]*/g
/** A stream of a file on NTFS, such as `::$DATA`. */
const STREAM = /:[^/]*/g
/** A script that gets the rest of the path as its own (CGI, `PATH_INFO`), such as `/index.php/paid`. */
const SCRIPT = /^.*?\.(?:php\d?|f?cgi|pl|py|rb|aspx?|jsp|cfm)(?=\/)/i
/** Dot segments, which URL parsers also recognize percent-encoded (URL standard, "double-dot URL path segment"). */
const DOT = /^(?:\.|%2e)$/i
const DOUBLE_DOT = /^(?:\.|%2e){2}$/i
const SLASHES = /\/{2,}/g
const ENCODED = /(?:%[\da-f]{2})+/gi
/** Overlong UTF-8: ASCII in two, three or four bytes. */
const OVERLONG = /%(?:c[01]|e0%[89][\da-f]|f0%80%[89][\da-f])%[\da-f]{2}/gi
/** The `%u` encoding of IIS and old scripts. */
const ENCODED_UNIT = /%u([\da-f]{4})/gi
/** Accents and invisible characters. */
const UNSEEN = /[\p{M}\p{Cc}\p{Default_Ignorable_Code_Point}]/gu

/** The steps by which servers decode a path, in any order and any number of times. */
const STEPS: readonly ((path: string) => string)[] = [
  (path) => path.replace(ENCODED, asUtf8),
  (path) => path.replace(OVERLONG, shortened),
  (path) => path.replace(ENCODED, asLatin1),
  (path) => path.replace(ENCODED_UNIT, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16))),
  // Full-width dots and slashes become ASCII.
  seen,
  (path) => path.split('/').map(withoutEnds).join('/'),
  (path) => path.replaceAll('\\', '/'),
  (path) => path.replace(PARAMETERS, ''),
  (path) => path.replace(STREAM, ''),
  (path) => path.replace(SCRIPT, ''),
  // A query or a fragment in the decoded path, and the NUL that ends a C string.
  (path) => cutAt(path, '?'),
  (path) => cutAt(path, '#'),
  (path) => cutAt(path, '\0'),
  (path) => path.replace(SLASHES, '/'),
  resolved,
]

/**
 * @param pathname of a parsed URL
 * @returns each path that it may mean, normalized: without a trailing slash, empty for the root. Undefined when there are
 *   more than {@link READINGS_MAX}, or the path is too long
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
 * @returns the path, normalized as by {@link meaningsOf}; undefined for one with several meanings
 */
export function meaningOf(path: string): string | undefined {
  const decoded = path.replace(ENCODED, asUtf8)
  return path.startsWith('/') && !UNCLEAR.test(decoded) ? spelled(decoded) : undefined
}

/** @returns whether `path` is `prefix` or below it: `/paid` includes `/paid/x`, but not `/paids` */
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

/** Removes what some servers ignore. */
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
 * Removes differences in letter case, accents, invisible characters, and dots and spaces around a name, which some servers ignore. The
 * upper case of some letters equals that of others, or has two letters.
 */
function spelled(path: string): string {
  const folded = seen(path).toLowerCase().toUpperCase().toLowerCase()
  const names = folded.split('/').map(withoutEnds)
  return names
    .filter((name) => name !== '')
    .map((name) => `/${name}`)
    .join('')
}

/** Keeps `..`, which means another folder. */
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

/** Bytes that are not UTF-8 become U+FFFD, which no route has. */
function asUtf8(encoded: string): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytesOf(encoded))
}

function asLatin1(encoded: string): string {
  return String.fromCharCode(...bytesOf(encoded))
}

/** Decodes overlong UTF-8 (RFC 3629 §10) as old decoders do: by the last six bits of each byte. */
function shortened(overlong: string): string {
  const [first = 0, ...more] = bytesOf(overlong)
  return String.fromCharCode(more.reduce((code, byte) => (code << 6) | (byte & 0x3f), first & 1))
}
