// Parses the traffic rules once, at start.

import { elementsOf, membersOf, printed, secondsOf, textsOf, type Value, wrong } from './checks.ts'
import { type Cors, parseCors } from './cors.ts'
import { type Destination, parseAddress, parsePath } from './destinations.ts'
import { type HeaderEdit, parseHeaderEdit } from './header-edits.ts'
import { type Mock, parseMock } from './mocks.ts'
import type { TrafficRules } from './options.ts'
import { ALL_PATHS, PathPattern } from './path.ts'

/** A Maintenance is a parsed maintenance rule. */
export interface Maintenance {
  readonly path: PathPattern
  readonly text: string
  readonly retryAfter: number
  readonly except: readonly PathPattern[]
}

/** A Redirect is a parsed redirect rule. */
interface Redirect extends Destination {
  readonly status: number
}

/** ParsedRules cannot hold a rule that is wrong. */
export interface ParsedRules {
  readonly maintenance: readonly Maintenance[]
  readonly redirects: readonly Redirect[]
  readonly rewrites: readonly Destination[]
  readonly cors: readonly Cors[]
  readonly requestHeaders: readonly HeaderEdit[]
  readonly requestBody: readonly { path: PathPattern; maxBytes: number }[]
  readonly mocks: readonly Mock[]
  readonly timeouts: readonly { path: PathPattern; responseMs: number }[]
  readonly responseHeaders: readonly HeaderEdit[]
  /** True when a rule depends on the path, so that a path with two meanings could evade it. */
  readonly comparesPaths: boolean
}

/** The rules, in the order in which they apply. */
export const RULE_NAMES: readonly (keyof TrafficRules)[] = [
  'maintenance',
  'redirects',
  'rewrites',
  'cors',
  'requestHeaders',
  'requestBody',
  'mocks',
  'timeouts',
  'responseHeaders',
]

const TEXT = 'This site is down for maintenance.'
const RETRY_AFTER_S = 300
/** The longest text of a maintenance page, in characters: a page, and not a book. */
const TEXT_MAX_CHARS = 10_000
/** The longest time of a rule, in seconds: a day. */
const SECONDS_MAX = 86_400
const STATUSES = [301, 302, 303, 307, 308]
const DEFAULT_STATUS = 302
const SIZE = /^(\d{1,12}(?:\.\d{1,6})?) ?(B|[KMG]i?B)$/i
const UNITS: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
}

/**
 * @param spell spells the name of a member as the user's file does, for messages
 * @throws SvcError `invalid_option` that names the rule, and says what is possible
 */
export function parseRules(given: unknown, spell: (name: string) => string = (name) => name): ParsedRules {
  const rules = membersOf({ place: 'rules', given, spell }, RULE_NAMES)
  const each = <T>(name: keyof TrafficRules, parse: (rule: Value) => T): T[] =>
    elementsOf(rules[name]).map(parse)
  const { given: closed } = rules.maintenance ?? {}
  const parsed = {
    maintenance:
      typeof closed === 'boolean' ? (closed ? [CLOSED] : []) : each('maintenance', parseMaintenance),
    redirects: each('redirects', parseRedirect),
    rewrites: each('rewrites', parseRewrite),
    cors: each('cors', (rule) => parseCors(rule, pathOf)),
    requestHeaders: each('requestHeaders', (rule) => parseHeaderEdit(rule, pathOf, true)),
    requestBody: each('requestBody', parseRequestBody),
    mocks: each('mocks', (rule) => parseMock(rule, pathOf)),
    timeouts: each('timeouts', parseTimeout),
    responseHeaders: each('responseHeaders', (rule) => parseHeaderEdit(rule, pathOf, false)),
  }
  const all: { path: PathPattern }[] = Object.values(parsed).flat()
  const comparesPaths =
    all.some(({ path }) => !path.isAll) || [...parsed.redirects, ...parsed.rewrites].some(isMoved)
  return { ...parsed, comparesPaths }
}

const CLOSED: Maintenance = { path: ALL_PATHS, text: TEXT, retryAfter: RETRY_AFTER_S, except: [] }

/** Returns whether a part of the visitor's path goes below another one, out of which an ambiguous part could lead. */
function isMoved({ goesOn, base }: Destination): boolean {
  return goesOn && base.pathname !== '/'
}

function pathOf(value: Value | undefined): PathPattern {
  if (!value) return ALL_PATHS
  return (
    PathPattern.parse(value.given) ??
    wrong(
      value,
      `has to be a path such as "/exactly/this" or "/all/below/*", without encoded dots and slashes, not ${printed(value.given)}`,
    )
  )
}

function parseMaintenance(value: Value): Maintenance {
  const { path, text, retryAfter, except } = membersOf(value, ['path', 'text', 'retryAfter', 'except'])
  const said = text?.given ?? TEXT
  if (typeof said !== 'string' || said.trim() === '' || said.length > TEXT_MAX_CHARS)
    wrong(text!, `has to be a text of at most ${TEXT_MAX_CHARS} characters`)
  if (except) textsOf(except, /^\//, 'a list of paths such as "/health" or "/status/*"')
  return {
    path: pathOf(path),
    text: said,
    retryAfter: secondsOf(retryAfter, SECONDS_MAX, true) ?? RETRY_AFTER_S,
    except: elementsOf(except).map(pathOf),
  }
}

function parseRedirect(value: Value): Redirect {
  const { path, to, status } = membersOf(value, ['path', 'to', 'status'], ['to'])
  const given = status?.given ?? DEFAULT_STATUS
  if (!STATUSES.includes(given as number))
    wrong(status!, `has to be ${STATUSES.join(', ')}, not ${printed(given)}`)
  return { ...parseAddress(to!, pathOf(path)), status: given as number }
}

function parseRewrite(value: Value): Destination {
  const { path, to } = membersOf(value, ['path', 'to'], ['to'])
  return parsePath(to!, pathOf(path))
}

function parseRequestBody(value: Value): ParsedRules['requestBody'][number] {
  const { path, maxSize } = membersOf(value, ['path', 'maxSize'], ['maxSize'])
  const { given } = maxSize!
  const [, number, unit = ''] = SIZE.exec(String(given)) ?? []
  const maxBytes = typeof given === 'number' ? given : Math.floor(Number(number) * UNITS[unit.toLowerCase()]!)
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 0)
    wrong(
      maxSize!,
      `has to be a whole number of bytes, or a text such as "10MB" or "512KiB", not ${printed(given)}`,
    )
  return { path: pathOf(path), maxBytes }
}

function parseTimeout(value: Value): ParsedRules['timeouts'][number] {
  const { path, response } = membersOf(value, ['path', 'response'], ['response'])
  return { path: pathOf(path), responseMs: 1000 * secondsOf(response, SECONDS_MAX, false)! }
}
