// Hides one program from the tests: the suite holds on machines that have fewer programs than this one.
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Programs that tests use where they are, and are skipped without. */
export const OPTIONAL_PROGRAMS: readonly string[] =
  'redis-server haproxy pebble named unbound faketime wg wireguard-go nft openssl gnutls-cli shellcheck'.split(
    ' ',
  )

/** @returns a `PATH` on which every program but `hidden` is found; `remove` ends it */
export function hidingProgram(hidden: string): { path: string; remove(): void } {
  const folder = mkdtempSync(path.join(tmpdir(), 'svc-programs-'))
  const seen = new Set([hidden])
  for (const directory of (process.env.PATH ?? '').split(path.delimiter))
    for (const name of namesIn(directory)) {
      if (seen.has(name)) continue
      seen.add(name)
      symlinkSync(path.join(path.resolve(directory), name), path.join(folder, name))
    }
  return { path: folder, remove: () => rmSync(folder, { recursive: true }) }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
