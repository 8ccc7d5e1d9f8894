// Fetches Node's own binaries from npm's platform packages, checked against the registry's integrity value, and keeps them.
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { root } from '../../tools/programs/command.ts'
import { hostSlug, PLATFORMS, type Slug } from './platforms.ts'

const CACHE: string = path.join(root, 'node_modules/.cache/node-binaries')
/** Milliseconds for one call of npm: a package has about 50 MB. */
const NPM_TIMEOUT_MS: number = 5 * 60_000
/** A minor version is further away than any patch. */
const PATCHES_MAX = 1_000

export interface BaseBinary {
  file: string
  version: string
}

/**
 * @param wanted the version, as in `26.10.0`
 * @returns the binary of that version, or of the nearest one of the same major that the registry has
 * @throws Error when the registry has none, or its package is not what the registry says
 */
export function baseBinary(slug: Slug, wanted: string): BaseBinary {
  const { nodePackage } = PLATFORMS[slug]
  const exact = fileOf(slug, wanted)
  if (existsSync(exact)) return { file: exact, version: wanted }
  const version = nearest(wanted, versionsOf(nodePackage))
  if (version === undefined) throw new Error(`The registry has no ${nodePackage} like ${wanted}.`)
  const file = fileOf(slug, version)
  if (!existsSync(file)) download(nodePackage, version)
  if (!existsSync(file)) throw new Error(`${nodePackage}@${version} has no ${PLATFORMS[slug].nodeFile}.`)
  return { file, version }
}

/** @returns a Node that runs here and has this version, so that it writes what its twins for other platforms read */
export function generatorOf(version: string): string {
  const host = hostSlug()
  if (version === process.versions.node || host === undefined) return process.execPath
  const found = baseBinary(host, version)
  return found.version === version ? found.file : process.execPath
}

/** @returns the version with the same major that is nearest; undefined when there is none */
export function nearest(wanted: string, versions: readonly string[]): string | undefined {
  const [major, minor, patch] = numbersOf(wanted)
  const distance = (version: string): number => {
    const [, otherMinor, otherPatch] = numbersOf(version)
    return Math.abs((otherMinor - minor) * PATCHES_MAX + otherPatch - patch)
  }
  return versions
    .filter((version) => /^\d+\.\d+\.\d+$/.test(version) && numbersOf(version)[0] === major)
    .toSorted((a, b) => distance(a) - distance(b))[0]
}

function numbersOf(version: string): [number, number, number] {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  return [major, minor, patch]
}

function fileOf(slug: Slug, version: string): string {
  const { nodePackage, nodeFile } = PLATFORMS[slug]
  return path.join(CACHE, `${nodePackage}-${version}`, 'package', nodeFile)
}

function versionsOf(name: string): string[] {
  const versions: string | string[] = JSON.parse(npm(['view', name, 'versions', '--json']))
  return [versions].flat()
}

function download(name: string, version: string): void {
  mkdirSync(CACHE, { recursive: true })
  const temporary = mkdtempSync(path.join(CACHE, 'fetching-'))
  try {
    const expected: string = JSON.parse(npm(['view', `${name}@${version}`, 'dist.integrity', '--json']))
    npm(['pack', `${name}@${version}`, '--pack-destination', temporary])
    const archive = path.join(temporary, `${name}-${version}.tgz`)
    const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`
    if (found !== expected)
      throw new Error(`${name}@${version} is not what the registry says: ${found} is not ${expected}`)
    requireSuccess(spawnSync('tar', ['-xzf', archive, '-C', temporary], { encoding: 'utf8' }), 'tar')
    rmSync(archive)
    renameSync(temporary, path.join(CACHE, `${name}-${version}`))
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

function npm(args: string[]): string {
  const options = { encoding: 'utf8', timeout: NPM_TIMEOUT_MS, shell: process.platform === 'win32' } as const
  return requireSuccess(spawnSync('npm', [...args, '--loglevel=error'], options), `npm ${args.join(' ')}`)
}

/** @returns standard output */
function requireSuccess(
  { status, stdout, stderr, error }: SpawnSyncReturns<string>,
  command: string,
): string {
  if (status !== 0) throw new Error(`${command} failed:\n${stdout}${stderr}${error?.message ?? ''}`)
  return stdout
}
