// Unpacks Debian packages into a directory of the repository's caches, for programs that need not be installed.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, renameSync } from 'node:fs'
import path from 'node:path'
import { root } from './command.ts'

/** Milliseconds for the download of some 100 MB. */
const DOWNLOAD_TIMEOUT_MS: number = 5 * 60_000

/**
 * @param name directory of the cache
 * @returns what stands for `/`; undefined where there is no apt, or it has not all of the packages
 */
export function unpackDebianPackages(name: string, packages: readonly string[]): string | undefined {
  const directory = path.join(root, 'node_modules/.cache/debian', name)
  const unpacked = path.join(directory, 'root')
  if (existsSync(unpacked)) return unpacked
  const partial = path.join(directory, 'partial')
  mkdirSync(partial, { recursive: true })
  console.error(`Downloading: ${packages.join(' ')}`)
  if (!succeeds('apt-get', ['download', '-q', ...packages], directory)) return undefined
  for (const archive of globSync('*.deb', { cwd: directory }))
    if (!succeeds('dpkg-deb', ['-x', archive, partial], directory)) return undefined
  renameSync(partial, unpacked)
  return unpacked
}

function succeeds(command: string, args: string[], cwd: string): boolean {
  const { status, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout: DOWNLOAD_TIMEOUT_MS,
  })
  if (status !== 0) console.error(`${command} failed:\n${stderr ?? ''}${error?.message ?? ''}`)
  return status === 0
}
