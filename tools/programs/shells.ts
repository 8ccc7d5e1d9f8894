// Finds or installs the shells of tests, and what those of the installer's scripts take: where one is missing, its tests are skipped.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { aptGet, ensure } from './install.ts'

/** Programs by the Debian package that has them, and what is skipped without each. */
const PROGRAMS: readonly [program: string, debian: string, tests: string][] = [
  ['shellcheck', 'shellcheck', 'the check of install.sh'],
  ['busybox', 'busybox', 'install.sh under BusyBox'],
  ['wget', 'wget', 'install.sh with wget'],
  ['zsh', 'zsh', 'svc completion zsh'],
  ['fish', 'fish', 'svc completion fish'],
]

export function ensureShells(): void {
  for (const [program, debian, tests] of PROGRAMS)
    if (ensure(() => find(program), [aptGet(debian)]) === undefined)
      console.log(`No ${program}: ${tests} is skipped (Debian ${debian}).`)
  if (ensure(findMusl, [aptGet('musl')]) === undefined)
    console.log('No musl: install.sh on a system with musl is skipped (Debian musl).')
}

function find(program: string): true | undefined {
  return spawnSync(program, ['--help']).error === undefined ? true : undefined
}

function findMusl(): true | undefined {
  return globSync('/lib/ld-musl-*.so.1').length > 0 ? true : undefined
}
