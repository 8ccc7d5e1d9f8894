// Unpacks assets of a single executable into files, once for each build, for what needs a path: native addons and pages.

import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { getAsset, getAssetKeys, isSea } from 'node:sea'
import { zstdDecompressSync } from 'node:zlib'
import { cacheDirectory } from '../../../sdk-node/src/cli/cache-directory.ts'

/** Name of the asset that holds a digest of all others. */
export const DIGEST_ASSET = 'digest'
/** Ending of assets that are compressed. */
export const COMPRESSED = '.zst'

/**
 * Writes the assets of a folder that are not there yet.
 * @returns the directory, which is empty where the program is no executable
 * @throws Error when no directory can hold them
 */
export function unpackAssets(folder: string): string {
  if (!isSea()) return join(import.meta.dirname, folder)
  const build = join(cacheDirectory(), getAsset(DIGEST_ASSET, 'utf8'))
  for (const key of getAssetKeys().filter((name) => name.startsWith(`${folder}/`))) unpack(key, build)
  return join(build, folder)
}

function unpack(key: string, build: string): void {
  const isCompressed = key.endsWith(COMPRESSED)
  const file = join(build, isCompressed ? key.slice(0, -COMPRESSED.length) : key)
  if (existsSync(file)) return
  mkdirSync(dirname(file), { recursive: true })
  const content = Buffer.from(getAsset(key))
  // Another process may unpack at the same time: a file is there whole, or not at all.
  const temporary = `${file}.${process.pid}`
  try {
    writeFileSync(temporary, isCompressed ? zstdDecompressSync(content) : content)
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    if (!existsSync(file)) throw error
  }
}
