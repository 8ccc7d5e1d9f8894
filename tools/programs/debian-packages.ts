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

/** Programs of unpacked packages. */
export interface DebianPrograms {
  /** The path of a program, wherever Debian has it. */
  pathOf(program: string): string
  /** Variables with which the programs find their libraries, beside those of this process. */
  env: Readonly<Record<string, string>>
}

/** @returns undefined as {@link unpackDebianPackages} does */
export function findDebianPrograms(name: string, packages: readonly string[]): DebianPrograms | undefined {
  const unpacked = unpackDebianPackages(name, packages)
  if (unpacked === undefined) return undefined
  // The libraries are in a folder that is named after the machine's architecture.
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
  const folders = ['usr/bin', 'usr/sbin'].map((folder) => path.join(unpacked, folder))
  return {
    pathOf: (program) => {
      const folder = folders.find((one) => existsSync(path.join(one, program)))
      if (folder === undefined) throw new Error(`none of the packages in ${name} has ${program}`)
      return path.join(folder, program)
    },
    env: { LD_LIBRARY_PATH: path.join(unpacked, `usr/lib/${machine}-linux-gnu`) },
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
