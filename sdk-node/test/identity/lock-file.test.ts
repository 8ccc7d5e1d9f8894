// The lock of a file: what two processes make of it, and one that has ended.

import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { withLockFile } from '../../src/identity/lock-file.ts'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-lock-'))
  path = join(folder, 'below', 'account.lock')
})
afterEach(async () => {
  vi.useRealTimers()
  await rm(folder, { recursive: true })
})

const failed = (cause: unknown): Error => new Error('no lock', { cause })
const { signal } = new AbortController()
const locked = <T>(work: () => Promise<T>, options = { signal, failed }): Promise<T> =>
  withLockFile(path, work, options)

it('lets one at a time work, also after one that failed, and leaves nothing', async () => {
  let running = 0
  const work = async (): Promise<void> => {
    running += 1
    expect(running).toBe(1)
    await stat(path)
    running -= 1
    throw new Error('the work failed')
  }
  const all = await Promise.allSettled(Array.from({ length: 5 }, () => locked(work)))
  expect(all.map((one) => Object(one).reason?.message)).toEqual(Array(5).fill('the work failed'))
  expect(await readdir(join(folder, 'below'))).toEqual([])
})

it('is taken over when its process has ended, not while it works', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const before = new Date(Date.now() - 60_000)
  await locked(async () => {
    await utimes(path, before, before)
    vi.advanceTimersByTime(2_000)
    await vi.waitFor(async () => expect((await stat(path)).mtimeMs).toBeGreaterThan(Date.now() - 10_000))
  })
  await writeFile(path, '')
  await utimes(path, before, before)
  expect(await locked(async () => 'mine')).toBe('mine')
})

it('is not waited for any longer than the caller wants, and says why there is none', async () => {
  const ended = AbortSignal.abort(new Error('the site has ended'))
  await locked(async () => {
    const waiting = locked(async () => {}, { signal: ended, failed })
    await expect(waiting).rejects.toMatchObject({ message: 'no lock', cause: { cause: ended.reason } })
  })
  await writeFile(join(folder, 'file'), '')
  path = join(folder, 'file', 'account.lock')
  await expect(locked(async () => {})).rejects.toMatchObject({ message: 'no lock' })
})
