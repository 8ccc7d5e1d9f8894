// Unpacks Debian packages into a directory of the repository's caches, for programs that need not be installed.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
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
  mkdirSync(directory, { recursive: true })
  // Several processes may come here at once: each has a directory of its own, and the first one's stays.
  const own = mkdtempSync(path.join(directory, 'partial-'))
  try {
    console.error(`Downloading: ${packages.join(' ')}`)
    if (!succeeds('apt-get', ['download', '-q', ...packages], own)) return undefined
    const partial = path.join(own, 'root')
    mkdirSync(partial)
    for (const archive of globSync('*.deb', { cwd: own }))
      if (!succeeds('dpkg-deb', ['-x', archive, partial], own)) return undefined
    moveUnlessThere(partial, unpacked)
    return unpacked
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}

function moveUnlessThere(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!existsSync(to)) throw error
  }
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
