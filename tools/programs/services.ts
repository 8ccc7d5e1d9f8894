// Finds the real servers for the tests of exposing, and of relays on several machines: where one is missing and cannot be
// installed, its tests are skipped.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import path from 'node:path'
import { ensureHaproxy } from './haproxy.ts'
import { aptGet, ensure } from './install.ts'

/** What dpkg-query prints of a package. */
const FORMAT = ['$', '{db:Status-Status}'].join('')

/** Debian packages of the applications that are tested behind `svc expose`. */
export const APPLICATION_PACKAGES = ['apache2-bin', 'nginx', 'php8.2-cli', 'docker-registry'] as const

export function ensureServices(): void {
  if (ensure(findRedis, [aptGet('redis-server')]) === undefined)
    console.log('No redis-server: its tests are skipped (Debian redis-server).')
  // Debian 12 has no Valkey.
  if (ensure(findValkey, isPackaged('valkey-server') ? [aptGet('valkey-server')] : []) === undefined)
    console.log('No valkey-server: its tests are skipped (Debian 13 valkey-server).')
  if (ensure(findPostgres, [aptGet('postgresql')]) === undefined)
    console.log('No PostgreSQL: its test is skipped (Debian postgresql).')
  for (const name of APPLICATION_PACKAGES) {
    const install = isPackaged(name) ? [aptGet(`--no-install-recommends ${name}`)] : []
    if (ensure(() => findPackage(name), install) === undefined)
      console.log(`No ${name}: its test is skipped (Debian ${name}).`)
  }
  ensureHaproxy()
}

/** @param name of a Debian package */
export function findPackage(name: string): true | undefined {
  const { status, stdout } = spawnSync('dpkg-query', ['-W', '-f', FORMAT, name], { encoding: 'utf8' })
  return status === 0 && stdout === 'installed' ? true : undefined
}

export function findRedis(): true | undefined {
  return spawnSync('redis-server', ['--version']).error === undefined ? true : undefined
}

export function findValkey(): true | undefined {
  return spawnSync('valkey-server', ['--version']).error === undefined ? true : undefined
}

/** @returns the folder of the server's programs, which Debian keeps out of PATH */
export function findPostgres(): string | undefined {
  const folders = [
    ...globSync('/usr/lib/postgresql/*/bin'),
    ...(process.env.PATH ?? '').split(path.delimiter),
  ]
  return folders.find((folder) => spawnSync(path.join(folder, 'initdb'), ['--version']).error === undefined)
}

function isPackaged(name: string): boolean {
  return spawnSync('apt-cache', ['show', name]).status === 0
}
