// Cross-origin resource sharing (Fetch standard, "HTTP CORS protocol"): preflights, and the fields of responses.

import type { Field } from '../semantics/fields.ts'
import { membersOf, secondsOf, switchOf, textsOf, type Value, wrong } from './checks.ts'
import type { PathPattern } from './path.ts'

/** Cors is a parsed CORS rule. */
export interface Cors {
  readonly path: PathPattern
  /** Undefined for any origin. */
  readonly origins: ReadonlySet<string> | undefined
  readonly methods: readonly string[]
  /** Undefined for those for which a preflight asks. */
  readonly headers: readonly string[] | undefined
  readonly exposeHeaders: readonly string[]
  readonly credentials: boolean
  readonly maxAge: number | undefined
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/
const ORIGIN = /^\*$|^[a-z][a-z\d+.-]*:\/\/[^/?#\s,*\\]+$/
/** A list of names, as browsers send it: in lower case, sorted, without spaces. */
const NAMES = /^[!#$%&'*+.^_`|~\w, -]*$/
/** The longest time for which a browser remembers a preflight: a day, in Firefox. */
const MAX_AGE_MAX_S = 86_400

const OWN_FIELDS = /^access-control-(?:allow-(?:origin|credentials|methods|headers)|expose-headers|max-age)$/i

/**
 * Parses a CORS rule.
 * @throws SvcError `invalid_option`
 */
export function parseCors(value: Value, pathOf: (value: Value | undefined) => PathPattern): Cors {
  const names = ['path', 'origins', 'methods', 'headers', 'exposeHeaders', 'credentials', 'maxAge']
  const { path, origins, methods, headers, exposeHeaders, credentials, maxAge } = membersOf(value, names, [
    'origins',
  ])
  const found = originsOf(origins!)
  const isAny = found.includes('*')
  if (isAny && found.length > 1) wrong(origins!, 'has to have "*" alone, or named origins')
  const hasCredentials = switchOf(credentials)
  if (isAny && hasCredentials)
    wrong(
      credentials!,
      'needs origins that are named: with "*", every page could read what is for one visitor',
    )
  return {
    path: pathOf(path),
    origins: isAny ? undefined : new Set(found),
    methods: methods ? textsOf(methods, TOKEN, 'a list of methods') : METHODS,
    headers: headers && textsOf(headers, TOKEN, 'a list of names of fields'),
    exposeHeaders: exposeHeaders ? textsOf(exposeHeaders, TOKEN, 'a list of names of fields') : [],
    credentials: hasCredentials,
    maxAge: secondsOf(maxAge, MAX_AGE_MAX_S, true),
  }
}

function originsOf(value: Value): string[] {
  const found = textsOf(value, ORIGIN, 'a list of origins such as "https://app.example", or "*"')
  if (found.length === 0) wrong(value, 'is empty: name an origin such as "https://app.example", or "*"')
  for (const [at, origin] of found.entries()) {
    const known = URL.parse(origin)?.origin
    // Origins of extensions and the like are opaque for URL parsers.
    if (origin !== '*' && known !== origin && known !== 'null')
      wrong(
        { place: `${value.place}[${at}]` },
        `is not spelled as browsers do${known ? `: write ${JSON.stringify(known)}` : ''}`,
      )
  }
  return found
}

/** Returns the fields that say what the page of the request may do. */
export function corsFields(
  cors: Cors,
  field: (name: string) => string | undefined,
  isPreflight: boolean,
): Field[] {
  const origin = allowedOrigin(cors, field('origin'))
  if (origin === undefined) return []
  const fields: Field[] = [['access-control-allow-origin', origin]]
  if (cors.credentials) fields.push(['access-control-allow-credentials', 'true'])
  if (isPreflight) fields.push(...preflightFields(cors, field('access-control-request-headers')))
  else if (cors.exposeHeaders.length > 0)
    fields.push(['access-control-expose-headers', cors.exposeHeaders.join(', ')])
  return fields
}

/** @param asked the fields that the page wants to send */
function preflightFields({ methods, headers, maxAge }: Cors, asked: string | undefined): Field[] {
  const allowed = headers ? headers.join(', ') : asked
  const fields: Field[] = [['access-control-allow-methods', methods.join(', ')]]
  if (allowed !== undefined && NAMES.test(allowed)) fields.push(['access-control-allow-headers', allowed])
  if (maxAge !== undefined) fields.push(['access-control-max-age', String(maxAge)])
  return fields
}

/** Replaces what the handler says about other origins. */
export function withCors(fields: readonly Field[], said: readonly Field[]): Field[] {
  return [...fields.filter(([name]) => !OWN_FIELDS.test(name)), ...said]
}

/** Adds `Vary: Origin` where responses differ by origin: also to those without one, which caches would give to all. */
export function varied(fields: Field[], { origins }: Cors): Field[] {
  const isVaried = fields.some(
    ([name, value]) => name.toLowerCase() === 'vary' && /(?:^|[\s,])(?:\*|origin)(?:[\s,]|$)/i.test(value),
  )
  if (origins && !isVaried) fields.push(['vary', 'Origin'])
  return fields
}

function allowedOrigin({ origins }: Cors, origin: string | undefined): string | undefined {
  if (!origins) return '*'
  return origin !== undefined && origins.has(origin) ? origin : undefined
}
