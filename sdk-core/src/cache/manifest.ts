// Makes the manifest of a snapshot, and checks it as the relay will.

import { CACHE_MANIFEST_MAX_BYTES, parseManifest, type StaticCacheManifest } from '@svc/protocol'
import type { CacheLimits } from '../control/lease.ts'
import { messageOf } from '../errors.ts'
import { invalidFiles } from './cache-failures.ts'
import type { HashedFile } from './file-hashes.ts'

/** ManifestRules say which file stands for which paths. */
export interface ManifestRules {
  index: string
  fallback: boolean
}

/** @param files in the order of their paths */
export function manifestOf(
  { index, fallback }: ManifestRules,
  files: readonly HashedFile[],
): StaticCacheManifest {
  return {
    index,
    ...(!fallback && { fallback }),
    files: files.map(({ path, blob: { size }, sha256 }, number) => ({
      path,
      size,
      sha256: sha256 ?? placeholder(number),
    })),
  }
}

/** Returns a placeholder for the hash of a file that was not read yet, a different one for each file. */
function placeholder(number: number): string {
  return number.toString(16).padStart(64, '0')
}

/**
 * Checks paths, sizes and numbers, but no hash.
 * @throws SvcError `cache_files_invalid` that names the file
 */
export function checkManifest(manifest: StaticCacheManifest, limits: CacheLimits): void {
  const { index, files } = manifest
  try {
    parseManifest({ ...manifest, index: files[0]?.path }, limits)
  } catch (error) {
    throw invalidFiles(messageOf(error), error)
  }
  if (!files.some(({ path }) => path === index))
    throw invalidFiles(`cache.index ${JSON.stringify(index)} is not one of the files`)
  const { length } = new TextEncoder().encode(JSON.stringify(manifest))
  if (length > CACHE_MANIFEST_MAX_BYTES)
    throw invalidFiles(
      `the list of files has ${length} bytes; at most ${CACHE_MANIFEST_MAX_BYTES} are allowed`,
    )
}
