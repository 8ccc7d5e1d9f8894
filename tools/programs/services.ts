// Finds the real servers for the tests of exposing: where one is missing and cannot be installed, its test is skipped.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import path from 'node:path'
import { aptGet, ensure } from './install.ts'

export function ensureServices(): void {
  if (ensure(findRedis, [aptGet('redis-server')]) === undefined)
    console.log('No redis-server: its test is skipped (Debian redis-server).')
  if (ensure(findPostgres, [aptGet('postgresql')]) === undefined)
    console.log('No PostgreSQL: its test is skipped (Debian postgresql).')
}

export function findRedis(): true | undefined {
  return spawnSync('redis-server', ['--version']).error === undefined ? true : undefined
}

/** @returns the folder of the server's programs, which Debian keeps out of PATH */
export function findPostgres(): string | undefined {
  const folders = [
    ...globSync('/usr/lib/postgresql/*/bin'),
    ...(process.env.PATH ?? '').split(path.delimiter),
  ]
  return folders.find((folder) => spawnSync(path.join(folder, 'initdb'), ['--version']).error === undefined)
}
