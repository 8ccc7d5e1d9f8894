// Files that only one process has at a time, as locks of other files.

import { mkdir, open, rm, stat, utimes } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const LOCK_LOOK_MS = 10
/** A waiting process looks ever less often, up to this many milliseconds. */
const LOCK_LOOK_MAX_MS = 250
/** The age of a lock whose process has ended, in milliseconds: others touch theirs. */
const LOCK_STALE_MS = 10_000
const LOCK_TOUCH_MS = 2_000
const LOCK_MODE = 0o600

export interface LockOptions {
  /** Ends the waiting. */
  signal: AbortSignal
  /** Makes the error when there can be no lock, or when `signal` ended the waiting. */
  failed(cause: unknown): Error
}

/**
 * Runs work while it has the lock.
 * @throws what the work throws, or the error of `failed`
 */
export async function withLockFile<T>(
  path: string,
  work: () => Promise<T>,
  { signal, failed }: LockOptions,
): Promise<T> {
  await locked(path, signal).catch((cause) => {
    throw failed(cause)
  })
  const touch = (): void => {
    const now = new Date()
    utimes(path, now, now).catch(() => {})
  }
  const timer = setInterval(touch, LOCK_TOUCH_MS).unref()
  try {
    return await work()
  } finally {
    clearInterval(timer)
    await rm(path, { force: true })
  }
}

async function locked(path: string, signal: AbortSignal): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  for (let lookMs = LOCK_LOOK_MS; !(await created(path)); lookMs = Math.min(2 * lookMs, LOCK_LOOK_MAX_MS)) {
    const touched = (await stat(path).catch(() => undefined))?.mtimeMs
    if (touched !== undefined && Date.now() - touched > LOCK_STALE_MS) await rm(path, { force: true })
    else if (signal.aborted) throw new Error(`another process has ${path}`, { cause: signal.reason })
    else await pause(lookMs, undefined, { signal }).catch(() => {})
  }
}

/** Resolves with whether there was no such file. */
async function created(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', LOCK_MODE)).close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
