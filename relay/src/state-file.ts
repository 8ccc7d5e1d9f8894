// Files of the state directory: read when there, written whole or not at all.

import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

const DIRECTORY_MODE = 0o700
const PRIVATE_MODE = 0o600
const PUBLIC_MODE = 0o644

/** What a file holds: text, or the pieces of one that is too long to be made in one go. */
export type Content = string | AsyncIterable<string>

export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** For keys: nobody but the owner may read it. Writes of one path must follow one another. */
export async function writePrivate(path: string, content: Content): Promise<void> {
  await write(path, content, PRIVATE_MODE)
}

export async function writePublic(path: string, content: Content): Promise<void> {
  await write(path, content, PUBLIC_MODE)
}

/**
 * Once this resolves, the new content survives a crash of the machine; before, either the old or the new is there. The
 * temporary file has one name, so that what a crash leaves of it is overwritten and does not pile up.
 */
async function write(path: string, content: Content, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE })
  const temporary = `${path}.tmp`
  const file = await open(temporary, 'w', mode)
  try {
    await file.chmod(mode)
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
  await syncDirectory(dirname(path))
}

/** Only then does the new name last. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
