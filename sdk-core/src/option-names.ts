// The names of options, and the message about an unknown one: it suggests the one that was meant.

/** The names of the options of `publish` in a page. */
export const PUBLISH_OPTIONS = [
  'relay',
  'relays',
  'discover',
  'name',
  'fetch',
  'allowFields',
  'identity',
  'allowCanonicalFallback',
  'invitation',
  'listed',
  'visitorAddress',
  'awayPage',
  'metadata',
  'ttl',
  'maxConnections',
  'signal',
  'onSite',
  'debug',
  'tls',
  'certificate',
  'http2',
  'hsts',
  'globals',
  'access',
  'rules',
  'domains',
  'acme',
  'cache',
] as const

/** The names of the members of options. */
export const OPTION_MEMBERS = [
  'tls.clientCertificates',
  'tls.minVersion',
  'tls.onSecret',
  'cache.files',
  'cache.index',
  'cache.fallback',
  'cache.ttl',
] as const

/** What replaces the options of older releases. */
const GONE: Readonly<Record<string, string>> = { hide: 'a site is on no list unless it has listed: true' }

/** Returns the names of the options of `publish` in a page, and of their members. */
export function optionNames(): string[] {
  return [...PUBLISH_OPTIONS, ...OPTION_MEMBERS]
}

/**
 * Returns the message that there is no such option, with the closest known name if there is one.
 * @param known the names of the existing options
 */
export function noOption(name: string, known: readonly string[] = optionNames()): string {
  const sentence = `there is no option ${name}`
  if (Object.hasOwn(GONE, name)) return `${sentence}: ${GONE[name]}`
  const given = lastPart(name)
  const [nearest] = known
    .map((other) => ({ other, edits: editsBetween(given, lastPart(other)) }))
    .filter(({ edits }) => edits <= given.length / 2)
    .sort((one, other) => one.edits - other.edits)
  return nearest ? `${sentence}: is ${nearest.other} meant?` : sentence
}

/** Returns `minversion` for `tls.minVersion`. */
function lastPart(name: string): string {
  return name.slice(name.indexOf('.') + 1).toLowerCase()
}

/** Counts the letters to insert, remove or replace (the Levenshtein distance). */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1]
    for (const [column, its] of [...other].entries())
      next.push(Math.min(row[column + 1]! + 1, next[column]! + 1, row[column]! + (letter === its ? 0 : 1)))
    row = next
  }
  return row.at(-1)!
}
