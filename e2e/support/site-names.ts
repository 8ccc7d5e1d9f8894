// Keeps the specs from using the same site name: a relay keeps a name for its owner, and many specs share a relay.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

const SPECS: string = path.resolve(import.meta.dirname, '..')
/** The text of a site's name where a spec publishes it, up to what the spec fills in. */
const NAMES: readonly RegExp[] = [
  /\bname: ['`]([a-z][a-z0-9-]*)['`$]/g,
  /\bpublish\w*\(['`]([a-z][a-z0-9-]*)['`$]/g,
  /\bpublish\w*\([\w.]+, ['`]([a-z][a-z0-9-]*)['`$]/g,
  /\bpublish\w*\([\w.]+, [\w.]+, ['`]([a-z][a-z0-9-]*)['`$]/g,
  /\bpublishAs, \[[\w.]+, '([a-z][a-z0-9-]*)'/g,
]

/** @throws Error with the names that two specs or more use */
export function assertOwnSiteNames(): void {
  const users = new Map<string, Set<string>>()
  for (const spec of globSync('*.spec.ts', { cwd: SPECS })) {
    const text = readFileSync(path.join(SPECS, spec), 'utf8')
    for (const name of NAMES.flatMap((pattern) => [...text.matchAll(pattern)].map(([, found = '']) => found)))
      users.set(name, (users.get(name) ?? new Set()).add(spec))
  }
  const shared = [...users].filter(([, specs]) => specs.size > 1)
  if (shared.length === 0) return
  const list = shared.map(([name, specs]) => `${name}: ${[...specs].toSorted().join(', ')}`)
  throw new Error(`specs use the same site name:\n${list.join('\n')}`)
}
