// Finds the directory of the downloads when the operator names none: that of this package, of the checkout or of Debian's
// package.

import { join, resolve, sep } from 'node:path'
import { CHECKSUMS } from '../../core/api/endpoints/download-names.ts'
import { findFile } from '../../core/api/http/stored-file.ts'

/** Path of this module's folder within this package, in the checkout and as built. */
const CODE = /[\\/](?:src|dist)[\\/]features[\\/]installer$/

/** Where Debian's package has them. */
const OF_THE_SYSTEM = '/usr/share/svc-relay/install'

/** Directories that may have downloads, the nearest first. A single executable has none of its own. */
export const BUILT_IN_DIRECTORIES: readonly string[] = [
  ...directoriesOf(import.meta.dirname),
  ...(sep === '/' ? [OF_THE_SYSTEM] : []),
]

/** @returns the first directory that has downloads; undefined if none has */
export async function findDirectory(directories: readonly string[]): Promise<string | undefined> {
  for (const directory of directories)
    if ((await findFile(join(directory, 'bin', CHECKSUMS))) !== undefined) return directory
  return undefined
}

/**
 * @returns whether the installer has something to install.
 * @param directory the operator's; undefined: one that comes with the relay
 */
export async function hasDownloads(directory: string | undefined): Promise<boolean> {
  if (directory === undefined) return (await findDirectory(BUILT_IN_DIRECTORIES)) !== undefined
  const isOwnScript = (await findFile(join(directory, 'install.sh'))) !== undefined
  return isOwnScript || (await findDirectory([directory])) !== undefined
}

export function directoriesOf(code: string | undefined): string[] {
  if (code === undefined || !CODE.test(code)) return []
  const ownPackage = resolve(code, '../../..')
  // `npm run binaries` makes them in the checkout.
  return [join(ownPackage, 'install'), resolve(ownPackage, '../artifacts/install')]
}
