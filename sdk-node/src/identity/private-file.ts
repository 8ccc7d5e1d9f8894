// Files that only their owner may read: secrets of the identity and of its sites.

import { link, mkdir, open, readdir, rename, rm, unlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { withoutByteOrderMark } from '@svc/protocol'
import { type OwnErrorCode, SvcError } from '@svc/sdk-core'

const PRIVATE_MODE = 0o600
/** The suffix of a temporary file's name: a UUID. */
const DRAFT_END = /^\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/
/** The permission bits of group and others. */
const OTHERS = 0o077

/**
 * Resolves with the file's text, without the byte-order mark that an editor may have added.
 * @param code the code of the error when others may read it
 * @throws SvcError, or the error of the file system
 */
export async function readPrivateFile(path: string, code: OwnErrorCode): Promise<string> {
  const file = await open(path, 'r')
  try {
    const { mode } = await file.stat()
    // Windows has no such modes.
    if (process.platform !== 'win32' && (mode & OTHERS) !== 0)
      throw new SvcError(code, `${path} is open to others: run chmod 600 on it`)
    return withoutByteOrderMark(await file.readFile('utf8'))
  } finally {
    await file.close()
  }
}

/**
 * Creates a file, unless another process was faster: that file is kept.
 * @throws the error of the file system
 */
export async function createPrivateFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeBeside(path, text, async (draft) => {
    // `link` never replaces a file.
    await link(draft, path).catch((error) => {
      if (error.code !== 'EEXIST') throw error
    })
    await unlink(draft)
  })
}

/**
 * Reads the file of a key, which is created when it is missing.
 * @param newContent makes the text of a new one
 * @throws SvcError `certificate_unavailable`
 */
export async function readOrCreateKey<Key>(
  path: string,
  read: (path: string) => Promise<Key>,
  newContent: () => string,
): Promise<Key> {
  try {
    return await read(path).catch(async (error) => {
      if (error.code !== 'ENOENT') throw error
      await createPrivateFile(path, newContent())
      return read(path)
    })
  } catch (cause) {
    if (cause instanceof SvcError) throw cause
    throw new SvcError('certificate_unavailable', `no key from ${path}`, { cause })
  }
}

/**
 * Replaces a file atomically.
 * @throws the error of the file system
 */
export async function replacePrivateFile(path: string, text: string): Promise<void> {
  await writeBeside(path, text, (draft) => rename(draft, path))
}

/** Writes the text to a temporary file beside `path`, and removes that when it cannot be put in place. */
async function writeBeside(
  path: string,
  text: string,
  place: (draft: string) => Promise<void>,
): Promise<void> {
  const draft = `${path}.${crypto.randomUUID()}`
  try {
    await writeFile(draft, text, { mode: PRIVATE_MODE, flag: 'wx', flush: true })
    await place(draft)
  } catch (error) {
    await unlink(draft).catch(() => {})
    throw error
  }
}

/** Removes the temporary files that a killed process left. No other process may be writing the file meanwhile. */
export async function removeDrafts(path: string): Promise<void> {
  const folder = dirname(path)
  const names = await readdir(folder).catch(() => [])
  const isDraft = (name: string): boolean =>
    name.startsWith(basename(path)) && DRAFT_END.test(name.slice(basename(path).length))
  await Promise.all(
    names.filter(isDraft).map((name) => rm(join(folder, name), { force: true }).catch(() => {})),
  )
}
