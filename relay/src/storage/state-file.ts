// Files of the state directory: read when there, written whole or not at all.

import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import { SettingsError } from '../config/settings.ts'

const DIRECTORY_MODE = 0o700
const PRIVATE_MODE = 0o600
const PUBLIC_MODE = 0o644
/** Any access of group and others. */
const OTHERS = 0o077
const GROUP_READS = 0o040
/** Nobody else's files have such names, so that all of them can be removed. */
const TEMPORARY = '.svc-tmp'

/** What a file holds: text, or the pieces of one that is too long to be made in one go. */
export type Content = string | AsyncIterable<string>

/** A file of the state directory could not be written: what was there before is there still. */
export class StateFileError extends Error {
  override readonly name = 'StateFileError'
  /** Of the system, such as `ENOSPC`. */
  readonly code: string | undefined

  constructor(path: string, cause: unknown) {
    super(`${path} cannot be written: ${reasonOf(cause)}`, { cause })
    this.code = (cause as NodeJS.ErrnoException).code
  }
}

/** @throws SettingsError that names the file when it is there and cannot be read */
export async function readIfPresent(path: string): Promise<string | undefined> {
  return await read(path, () => readFile(path, 'utf8'))
}

/**
 * For what may be longer than a text can be.
 * @throws SettingsError as {@link readIfPresent} does
 */
export async function readBytesIfPresent(path: string): Promise<Buffer | undefined> {
  return await read(path, () => readFile(path))
}

/** In bytes; 0 when it is not there. @throws SettingsError as {@link readIfPresent} does */
export async function sizeIfPresent(path: string): Promise<number> {
  return (await read(path, async () => (await stat(path)).size)) ?? 0
}

/**
 * For keys.
 * @throws SettingsError when the file is open to others, and as {@link readIfPresent} does
 */
export async function readPrivateIfPresent(path: string): Promise<string | undefined> {
  return await read(path, async () => {
    const file = await open(path)
    try {
      // Windows has no such modes.
      if (process.getuid !== undefined && isOpenToOthers(await file.stat(), process.getuid()))
        throw new SettingsError(path, `is open to others: run chmod 600 ${path}`)
      return await file.readFile('utf8')
    } finally {
      await file.close()
    }
  })
}

/**
 * Whether more accounts than its owner can get at a file. Root may let a group read what is root's: that is how a service
 * without rights is given a key.
 * @param own the account that this process runs as
 */
export function isOpenToOthers({ mode, uid }: { mode: number; uid: number }, own: number): boolean {
  const closed = uid === 0 && own !== 0 ? OTHERS & ~GROUP_READS : OTHERS
  return (mode & closed) !== 0
}

async function read<T>(path: string, from: () => Promise<T>): Promise<T | undefined> {
  try {
    return await from()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw code === undefined ? error : new SettingsError(path, `cannot be read: ${reasonOf(error)}`)
  }
}

/**
 * For keys: nobody but the owner may read it. Writes of one path must follow one another.
 * @throws StateFileError
 */
export async function writePrivate(path: string, content: Content): Promise<void> {
  await replace(path, content, PRIVATE_MODE)
}

/** @throws StateFileError */
export async function writePublic(path: string, content: Content): Promise<void> {
  await replace(path, content, PUBLIC_MODE)
}

/**
 * Whether {@link writePrivate} could write that now; the file stays as it is.
 * @throws StateFileError
 */
export async function tryPrivate(path: string, content: Content): Promise<void> {
  await writeTemporary(path, content, PRIVATE_MODE)
  await rm(temporaryOf(path), { force: true })
}

/** Removes what writes left behind that a crash cut off. To be called before the first write. */
export async function sweepTemporaries(directory: string): Promise<void> {
  const present = await readdir(directory).catch((): string[] => [])
  const left = present.filter((name) => name.endsWith(TEMPORARY))
  await Promise.all(left.map((name) => rm(join(directory, name), { force: true })))
}

/**
 * Once this resolves, the new content survives a crash of the machine; before, either the old or the new is there. The
 * temporary file has one name, so that what a crash leaves of it is overwritten and does not pile up.
 */
async function replace(path: string, content: Content, mode: number): Promise<void> {
  await writeTemporary(path, content, mode)
  try {
    await rename(temporaryOf(path), path)
  } catch (error) {
    throw new StateFileError(path, error)
  }
  // The new content is in force already: a writer who was told of a failure would believe that nothing has changed.
  await syncDirectory(dirname(path)).catch(() => {})
}

async function writeTemporary(path: string, content: Content, mode: number): Promise<void> {
  const temporary = temporaryOf(path)
  try {
    await mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE })
    const file = await open(temporary, 'w', mode)
    try {
      await file.chmod(mode)
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
  } catch (error) {
    // On a full disk the half that was written is what the others lack.
    await rm(temporary, { force: true }).catch(() => {})
    throw new StateFileError(path, error)
  }
}

function temporaryOf(path: string): string {
  return `${path}${TEMPORARY}`
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

/** What the system says of it, without the path. */
function reasonOf(error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException
  return errno === undefined ? message : getSystemErrorMessage(errno)
}
