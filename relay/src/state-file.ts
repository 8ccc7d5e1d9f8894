// Files of the state directory: read when there, written whole or not at all.

import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import writeFileAtomic from 'write-file-atomic'

const DIRECTORY_MODE = 0o700
const PRIVATE_MODE = 0o600
const PUBLIC_MODE = 0o644

export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** For keys: nobody but the owner may read it. */
export async function writePrivate(path: string, text: string): Promise<void> {
  await write(path, text, PRIVATE_MODE)
}

export async function writePublic(path: string, text: string): Promise<void> {
  await write(path, text, PUBLIC_MODE)
}

async function write(path: string, text: string, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE })
  await writeFileAtomic(path, text, { mode })
}
