// Finds a directory, writable only by this user, for compiled code and for files that an executable unpacks.

import { lstatSync, mkdirSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'

/** The mode of private directories. */
const PRIVATE = 0o700
/** The permission bits that let others write. */
const WRITABLE_BY_OTHERS = 0o022

/**
 * Creates the directory: $CACHE_DIRECTORY, which systemd sets, or the user's cache, or one in the directory of
 * temporary files.
 * @throws Error when none of them can be created or is private
 */
export function cacheDirectory(): string {
  const user = process.getuid?.() ?? 'user'
  const candidates = [process.env.CACHE_DIRECTORY?.split(':')[0], userCache(), join(tmpdir(), `svc-${user}`)]
  const failures: unknown[] = []
  for (const directory of candidates) {
    if (!directory) continue
    try {
      mkdirSync(directory, { recursive: true, mode: PRIVATE })
      requirePrivate(directory)
      return directory
    } catch (error) {
      failures.push(error)
    }
  }
  throw new AggregateError(failures, `no directory can hold cached files: ${failures.join('; ')}`)
}

function userCache(): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env
  if (process.platform === 'win32') return join(LOCALAPPDATA ?? join(homedir(), 'AppData/Local'), 'svc/cache')
  if (process.platform === 'darwin') return join(homedir(), 'Library/Caches/svc')
  return join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'svc')
}

function requirePrivate(directory: string): void {
  // Windows protects directories by access lists, which a user's own directories inherit.
  if (process.getuid === undefined) return
  const { uid, mode } = lstatSync(directory)
  if (uid !== process.getuid() || (mode & WRITABLE_BY_OTHERS) !== 0)
    throw new Error(`${directory} belongs to another user, or others may write to it`)
}
