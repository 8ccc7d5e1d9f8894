// A lock on the state directory: of two relays that start there at once, one orders and the other uses the result.

import { randomUUID } from 'node:crypto'
import { type FileHandle, link, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { StateFileError } from '../../core/storage/state-file.ts'
import { LOCK_LOOK_MS, LOCK_REFRESH_MS, LOCK_STALE_MS } from './limits.ts'

const LOCK_FILE = 'acme.lock'
const PRIVATE_MODE = 0o600

/** What is in the lock. */
interface Holder {
  host: string
  pid: number
  id: string
}

/** A lock of another relay, as last read. */
interface Seen {
  text: string
  refreshedAt: number
  /**
   * Monotonic milliseconds since which it has not been refreshed: wall clocks of machines differ, and may be changed.
   */
  since: number
}

/**
 * IDs of this process's callers that hold, take or release a lock. A lock with this process's PID and another ID is
 * from a process that ended.
 */
const held = new Set<string>()

/**
 * Calls `use` while no other relay holds the lock of the directory.
 * @throws what `use` throws, the signal's reason, or StateFileError when the lock cannot be written
 */
export async function withLock<T>(directory: string, signal: AbortSignal, use: () => Promise<T>): Promise<T> {
  const path = join(directory, LOCK_FILE)
  const holder: Holder = { host: hostname(), pid: process.pid, id: randomUUID() }
  // From before the file exists until it is gone: another caller in this process may read the file at any time.
  held.add(holder.id)
  try {
    await take(path, holder, signal)
    return await useAndRelease(path, holder, use)
  } finally {
    held.delete(holder.id)
  }
}

async function useAndRelease<T>(path: string, holder: Holder, use: () => Promise<T>): Promise<T> {
  const refresh = setInterval(() => {
    const time = new Date()
    utimes(path, time, time).catch(() => {})
  }, LOCK_REFRESH_MS)
  try {
    return await use()
  } finally {
    clearInterval(refresh)
    if ((await read(path)) === textOf(holder)) await rm(path, { force: true })
  }
}

async function take(path: string, holder: Holder, signal: AbortSignal): Promise<void> {
  let seen: Seen | undefined
  for (;;) {
    signal.throwIfAborted()
    if (await create(path, textOf(holder))) return
    seen = await look(path, seen)
    if (seen !== undefined && isLeft(seen, holder)) await breakLock(path, seen.text)
    else await pause(LOCK_LOOK_MS, undefined, { signal })
  }
}

/** @returns false when there is one already. @throws StateFileError */
async function create(path: string, text: string): Promise<boolean> {
  let file: FileHandle
  try {
    file = await open(path, 'wx', PRIVATE_MODE)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw new StateFileError(path, error)
  }
  try {
    await file.writeFile(text)
    return true
  } catch (error) {
    // An empty lock names no holder.
    await rm(path, { force: true })
    throw new StateFileError(path, error)
  } finally {
    await file.close()
  }
}

async function look(path: string, before: Seen | undefined): Promise<Seen | undefined> {
  const text = await read(path)
  const refreshedAt = await stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  )
  if (text === undefined || refreshedAt === undefined) return undefined
  const isSame = before?.text === text && before.refreshedAt === refreshedAt
  return isSame ? before : { text, refreshedAt, since: performance.now() }
}

/** Whether the holder ended without releasing its lock. */
function isLeft({ text, since }: Seen, { host }: Holder): boolean {
  const other = parse(text)
  if (other?.host === host && !isAlive(other)) return true
  return performance.now() - since > LOCK_STALE_MS
}

function isAlive({ pid, id }: Holder): boolean {
  if (pid === process.pid) return held.has(id)
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // The process is alive under another account.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * When two callers break a lock at once, the second may move a new lock aside; it puts that back unless there is a
 * newer one.
 */
async function breakLock(path: string, text: string): Promise<void> {
  const aside = `${path}.${randomUUID()}.svc-tmp`
  try {
    await rename(path, aside)
    if ((await read(aside)) !== text) await link(aside, path)
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    await rm(aside, { force: true })
  }
}

async function read(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').catch(() => undefined)
}

function textOf(holder: Holder): string {
  return `${JSON.stringify(holder)}\n`
}

/** @returns undefined for a lock that is damaged or still being written */
function parse(text: string): Holder | undefined {
  try {
    const { host, pid, id } = Object(JSON.parse(text))
    return typeof host === 'string' && Number.isSafeInteger(pid) && typeof id === 'string'
      ? { host, pid, id }
      : undefined
  } catch {
    return undefined
  }
}
