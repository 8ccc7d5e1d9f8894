// Reads and writes files of the state directory. A write replaces the whole file or changes nothing.

import { constants, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import { withoutByteOrderMark } from '@svc/protocol'
import { SettingsError } from '../config/settings.ts'

const DIRECTORY_MODE = 0o700
const PRIVATE_MODE = 0o600
const PUBLIC_MODE = 0o644
/** Mode bits of any access by group and others. */
const OTHERS = 0o077
const GROUP_READS = 0o040
/** Only temporary files of the relay have this suffix, so that it can remove all of them. */
const TEMPORARY = '.svc-tmp'

/** A file's text, or pieces of a text that is too long for one string. */
export type Content = string | AsyncIterable<string>

/** The relay could not write a file of the state directory. The file has its old content. */
export class StateFileError extends Error {
  override readonly name = 'StateFileError'
  /** Error code of the system, such as `ENOSPC`. */
  readonly code: string | undefined

  constructor(path: string, cause: unknown) {
    super(`${path} cannot be written: ${reasonOf(cause)}`, { cause })
    this.code = (cause as NodeJS.ErrnoException).code
  }
}

/**
 * Returns the fields of a file in JSON, unchecked; none when it has another value than an object.
 * @throws SettingsError with the file's name when it is not JSON
 */
export function parseFields(path: string, text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text))
  } catch {
    throw new SettingsError(path, 'is not JSON')
  }
}

/**
 * Reads a text, without the byte-order mark that an editor may have put before it.
 * @throws SettingsError with the file's name when it exists but cannot be read
 */
export async function readIfPresent(path: string): Promise<string | undefined> {
  return await read(path, async () => withoutByteOrderMark(await readFile(path, 'utf8')))
}

/**
 * Reads a file that may be longer than a string can be.
 * @throws SettingsError as {@link readIfPresent} does
 */
export async function readBytesIfPresent(path: string): Promise<Buffer | undefined> {
  return await read(path, () => readFile(path))
}

/** The file's size in bytes; 0 for a missing file. @throws SettingsError as {@link readIfPresent} does */
export async function sizeIfPresent(path: string): Promise<number> {
  return (await read(path, async () => (await stat(path)).size)) ?? 0
}

/**
 * Reads a file that holds a key.
 * @throws SettingsError when the file is open to others, and as {@link readIfPresent} does
 */
export async function readPrivateIfPresent(path: string): Promise<string | undefined> {
  return await read(path, async () => {
    const file = await open(path)
    try {
      // Windows has no such modes.
      if (process.getuid !== undefined && isOpenToOthers(await file.stat(), process.getuid()))
        throw new SettingsError(path, `is open to others: run chmod 600 ${path}`)
      return withoutByteOrderMark(await file.readFile('utf8'))
    } finally {
      await file.close()
    }
  })
}

/**
 * Whether accounts other than its owner can access a file. Root may let a group read its file, since that is how an
 * unprivileged service gets a key.
 * @param processUid the account that this process runs as
 */
export function isOpenToOthers({ mode, uid }: { mode: number; uid: number }, processUid: number): boolean {
  const forbidden = uid === 0 && processUid !== 0 ? OTHERS & ~GROUP_READS : OTHERS
  return (mode & forbidden) !== 0
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
 * Writes a file that only its owner may read. Callers wait for a write before the next one of the same path.
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
 * Adds to the end of a file that {@link writePrivate} has written. After an error the file may end with a part of the text.
 * Once this resolves, the text survives a crash of the machine.
 * @throws StateFileError also when there is no such file
 */
export async function appendPrivate(path: string, text: string): Promise<void> {
  try {
    const file = await open(path, constants.O_WRONLY | constants.O_APPEND)
    try {
      await file.appendFile(text)
      await file.datasync()
    } finally {
      await file.close()
    }
  } catch (error) {
    throw new StateFileError(path, error)
  }
}

/**
 * Tests whether {@link writePrivate} could write this content now. The file does not change.
 * @throws StateFileError
 */
export async function probePrivateWrite(path: string, content: Content): Promise<void> {
  await writeTemporary(path, content, PRIVATE_MODE)
  await rm(temporaryOf(path), { force: true })
}

/** Removes temporary files that a crash left behind. Called before the first write. */
export async function sweepTemporaries(directory: string): Promise<void> {
  const present = await readdir(directory).catch((): string[] => [])
  const left = present.filter((name) => name.endsWith(TEMPORARY))
  await Promise.all(left.map((name) => rm(join(directory, name), { force: true })))
}

/**
 * Once this resolves, the new content survives a crash of the machine. Before, the file has the old or the new content.
 * The temporary file has one name, so that files left by crashes do not pile up.
 */
async function replace(path: string, content: Content, mode: number): Promise<void> {
  await writeTemporary(path, content, mode)
  try {
    await rename(temporaryOf(path), path)
  } catch (error) {
    throw new StateFileError(path, error)
  }
  // The file has its new content already, so that an error here would mislead the caller.
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
    // On a full disk the partial file takes room that other writes need.
    await rm(temporary, { force: true }).catch(() => {})
    throw new StateFileError(path, error)
  }
}

function temporaryOf(path: string): string {
  return `${path}${TEMPORARY}`
}

/** Makes new, renamed and removed files of a directory survive a crash of the machine. @throws an error where the system cannot */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** The system's message without the path. */
function reasonOf(error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException
  return errno === undefined ? message : getSystemErrorMessage(errno)
}
