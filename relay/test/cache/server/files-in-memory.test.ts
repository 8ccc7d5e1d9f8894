// Small files in memory: in bounds, read once for all who want them, and gone when nobody wants them.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Semaphore } from '@svc/node-kit/semaphore'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FilesInMemory } from '../../../src/features/static-cache/server/files-in-memory.ts'
import {
  MEMORY_FILE_IDLE_MS,
  MEMORY_FILE_MAX_BYTES,
} from '../../../src/features/static-cache/server/limits.ts'
import { type Representation, uploaded } from '../../../src/features/static-cache/server/representation.ts'

const SIZE = 1000
let directory: string
let path: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-memory-'))
  path = join(directory, 'file')
  await writeFile(path, Buffer.alloc(SIZE, 'x'))
})
afterEach(async () => {
  vi.useRealTimers()
  await rm(directory, { recursive: true })
})

function file(size: number = SIZE): Representation {
  return uploaded({ path: 'file', size, sha256: 'ab'.repeat(32), codings: new Map() })
}

test('hold so many bytes, and lose the file that was not used again first', async () => {
  const files = new FilesInMemory(new Semaphore(1), 3 * SIZE)
  const [one, two, three, four] = [file(), file(), file(), file()]
  for (const each of [one, two, three]) await files.read(each, path)
  expect(files.get(one)?.length).toBe(SIZE)
  await files.read(four, path)
  expect(files.bytes).toBe(3 * SIZE)
  expect([one, two, three, four].map((each) => files.get(each) !== undefined)).toEqual([
    true,
    false,
    true,
    true,
  ])
  for (let count = 0; count < 100; count++) await files.read(file(), path)
  expect(files.bytes).toBe(3 * SIZE)
  files.close()
  expect(files.bytes).toBe(0)
})

test('are read once for all who come meanwhile', async () => {
  const files = new FilesInMemory(new Semaphore(1))
  const one = file()
  const bodies = await Promise.all(Array.from({ length: 10 }, () => files.read(one, path)))
  expect(new Set(bodies).size).toBe(1)
  expect(files.bytes).toBe(SIZE)
  files.close()
})

test('leave when nobody wants them', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const files = new FilesInMemory(new Semaphore(1))
  const [used, unused] = [file(), file()]
  for (const each of [used, unused]) await files.read(each, path)
  files.get(used)
  vi.advanceTimersByTime(MEMORY_FILE_IDLE_MS)
  expect(files.bytes).toBe(SIZE)
  expect(files.get(unused)).toBeUndefined()
  vi.advanceTimersByTime(MEMORY_FILE_IDLE_MS)
  vi.advanceTimersByTime(MEMORY_FILE_IDLE_MS)
  expect([files.bytes, vi.getTimerCount()]).toEqual([0, 0])
})

test('a file of another size, or a missing one, is not held', async () => {
  const files = new FilesInMemory(new Semaphore(1))
  await expect(files.read(file(SIZE + 1), path)).rejects.toThrow('1000 bytes instead of 1001')
  await expect(files.read(file(), join(directory, 'missing'))).rejects.toThrow('ENOENT')
  expect(files.bytes).toBe(0)
  expect(files.suits(file(MEMORY_FILE_MAX_BYTES))).toBe(true)
  expect(files.suits(file(MEMORY_FILE_MAX_BYTES + 1))).toBe(false)
})
