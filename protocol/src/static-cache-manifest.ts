// Parses the manifest of a snapshot: the list of files for the relay to store (docs/protocol.md §15.1).

import { compareCachePaths, problemOfCachePath } from './cache-path.ts'
import type { StaticCacheFile, StaticCacheManifest } from './messages.ts'
import { CACHE_FILES_MAX } from './static-cache-limits.ts'

/** The limits that the relay announces in `StaticCacheLimits`. */
export interface ManifestLimits {
  /** The largest total size, in bytes. */
  maxExposureBytes: number
  /** The largest size of one file, in bytes. */
  maxObjectBytes: number
}

const SHA256 = /^[\da-f]{64}$/
/** The most characters of a path in an error message. */
const QUOTED_CHARS = 100

/**
 * @param value decoded JSON; unknown members are dropped
 * @throws Error whose message names the first error
 */
export function parseManifest(value: unknown, limits: ManifestLimits): StaticCacheManifest {
  const { index, fallback, files: listed } = objectOf(value, 'the manifest')
  if (!Array.isArray(listed)) throw new Error('files of the manifest is no array')
  if (listed.length > CACHE_FILES_MAX) throw new Error(`the manifest has more than ${CACHE_FILES_MAX} files`)
  const files = listed.map((file: unknown, number) => parseFile(file, `file ${number + 1}`, limits))
  requireOrder(files)
  requireOneSize(files)
  const total = files.reduce((sum, { size }) => sum + size, 0)
  if (total > limits.maxExposureBytes)
    throw new Error(`the files have ${total} bytes together; ${limits.maxExposureBytes} are allowed`)
  if (typeof index !== 'string' || !files.some(({ path }) => path === index))
    throw new Error('index of the manifest is no path of a listed file')
  return { index, ...(fallback === false && { fallback }), files }
}

function parseFile(value: unknown, name: string, { maxObjectBytes }: ManifestLimits): StaticCacheFile {
  const { path, size, sha256 } = objectOf(value, name)
  if (typeof path !== 'string') throw new Error(`path of ${name} is no string`)
  const problem = problemOfCachePath(path)
  if (problem !== undefined) throw new Error(`the path ${quote(path)} ${problem}`)
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    throw new Error(`size of ${quote(path)} is no number of bytes`)
  if (size > maxObjectBytes)
    throw new Error(`${quote(path)} has ${size} bytes; ${maxObjectBytes} are allowed`)
  if (typeof sha256 !== 'string' || !SHA256.test(sha256))
    throw new Error(`sha256 of ${quote(path)} is not 64 hexadecimal digits in lower case`)
  return { path, size, sha256 }
}

/** Checks that paths are unique and sorted, and that none is the directory of another, which a file system could not store. */
function requireOrder(files: readonly StaticCacheFile[]): void {
  const paths = files.map(({ path }) => path)
  for (const [number, path] of paths.entries()) {
    const previous = paths[number - 1]
    if (path === previous) throw new Error(`the path ${quote(path)} is listed twice`)
    if (previous !== undefined && compareCachePaths(path, previous) < 0)
      throw new Error(
        `${quote(path)} comes after ${quote(previous)}: files are sorted by path, as its bytes in UTF-8 are ordered`,
      )
  }
  for (const path of paths) {
    const directory = `${path}/`
    if (paths[firstFrom(paths, directory)]?.startsWith(directory))
      throw new Error(`${quote(path)} is both a file and a directory`)
  }
}

/** Checks that files with the same hash, which are stored once, have the same size. */
function requireOneSize(files: readonly StaticCacheFile[]): void {
  const sizes = new Map<string, number>()
  for (const { path, size, sha256 } of files) {
    if ((sizes.get(sha256) ?? size) !== size)
      throw new Error(`${quote(path)} has the sha256 of a file with another size`)
    sizes.set(sha256, size)
  }
}

/** @returns the index of the first of the sorted texts that is not before `least` */
function firstFrom(sorted: readonly string[], least: string): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareCachePaths(sorted[middle]!, least) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function objectOf(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${name} is no JSON object`)
  return value as Record<string, unknown>
}

/** Quotes a path for logs and terminals. */
function quote(path: string): string {
  return JSON.stringify(path.slice(0, QUOTED_CHARS))
}
