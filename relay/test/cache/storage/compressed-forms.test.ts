// Compressed forms of stored files: which are made, what they decode to, and that they never stand in the way.

import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Snapshot, SnapshotFile, StoredCoding } from '../../../src/features/static-cache/snapshot.ts'
import type { SnapshotStore } from '../../../src/features/static-cache/storage/snapshot-store.ts'
import { sha256, type TestFiles } from '../../support/multipart-body.ts'
import { openTestStore, recordOf, type TestStore, uploadTo } from '../../support/snapshots.ts'

const BLOCK = 4096
const TEXT = 'What is said once more is shorter. '.repeat(2000)

let disk: TestStore
let store: SnapshotStore

beforeEach(async () => {
  disk = await openTestStore()
  store = disk.store
})

afterEach(() => disk.close())

async function publish(files: TestFiles): Promise<Snapshot> {
  return await (await uploadTo(store, files)).publish(recordOf())
}

function codingsOf(snapshot: Snapshot, path: string): StoredCoding[] {
  return [...snapshot.files.get(path)!.codings.keys()]
}

/** The background has done everything: the file that comes last has its forms. */
async function settled(snapshot: Snapshot, last = 'z.html'): Promise<void> {
  await expect.poll(() => codingsOf(snapshot, last)).toEqual(['br', 'gzip'])
}

function decode(path: string, coding: StoredCoding): string {
  const bytes = readFileSync(path)
  return String(coding === 'br' ? brotliDecompressSync(bytes) : gunzipSync(bytes))
}

test('types that compress well have both forms, which decode to the file and have the size that is said', async () => {
  const files: TestFiles = {
    'a.html': TEXT,
    'b.js': `// ${TEXT}`,
    'c.svg': `<!-- ${TEXT} -->`,
    'd.json': JSON.stringify(TEXT),
    'e.wasm': Buffer.alloc(5000, 1),
    'f.webmanifest': `{"a":"${TEXT}"}`,
    'z.html': `${TEXT}!`,
  }
  const snapshot = await publish(files)
  await settled(snapshot)
  const borrowed = store.borrow(snapshot)
  for (const file of snapshot.files.values()) {
    expect([...file.codings.keys()]).toEqual(['br', 'gzip'])
    for (const [coding, size] of file.codings) {
      const path = borrowed.pathOf(file, coding)
      expect(decode(path, coding)).toBe(String(files[file.path]))
      expect(statSync(path)).toMatchObject({ size, mode: 0o100600 })
    }
  }
  borrowed.release()
  expect(store.usedBytes).toBe(disk.diskBytes())
  await store.remove(snapshot)
  expect([store.usedBytes, disk.diskBytes()]).toEqual([0, 0])
})

test('no form for what is small, of another type, or hardly shorter; one for content that any path says is text', async () => {
  const files: TestFiles = {
    'a.png': TEXT,
    'b.unknown': TEXT,
    'c.txt': 'x'.repeat(1023),
    'd.txt': randomBytes(20_000),
    'e.bin': `shared ${TEXT}`,
    'f.txt': `shared ${TEXT}`,
    'g.bin': `shared ${TEXT}`,
    'y.txt': 'x'.repeat(1024),
    'z.html': `${TEXT}!`,
  }
  const snapshot = await publish(files)
  await settled(snapshot)
  for (const path of ['b.unknown', 'c.txt', 'd.txt']) expect(codingsOf(snapshot, path)).toEqual([])
  // Its content is that of no text.
  expect(codingsOf(snapshot, 'a.png')).toEqual([])
  for (const path of ['e.bin', 'f.txt', 'g.bin', 'y.txt'])
    expect(codingsOf(snapshot, path)).toEqual(['br', 'gzip'])
  expect(store.usedBytes).toBe(disk.diskBytes())
})

test('without room there is none, and the files are served as they are', async () => {
  await disk.close()
  disk = await openTestStore(BLOCK * 12)
  store = disk.store
  // 9 blocks of content and 2 of what belongs to them leave one, which the second file's forms need twice.
  const snapshot = await publish({ 'a.html': 'x'.repeat(8 * BLOCK), 'z.html': 'y'.repeat(1100) })
  await expect.poll(() => codingsOf(snapshot, 'z.html')).toEqual(['br'])
  expect(codingsOf(snapshot, 'a.html')).toEqual([])
  expect(store.usedBytes).toBe(BLOCK * 12)
  expect(disk.diskBytes()).toBe(BLOCK * 12)
})

test('a removal at any moment of the compression leaves nothing', async () => {
  const large = randomBytes(500_000).toString('hex')
  for (const delay of [0, 1, 2, 4, 8, 16, 32, 64]) {
    const snapshot = await publish({ 'a.html': large, 'b.html': `${large}!` })
    await new Promise((resolve) => setTimeout(resolve, delay))
    await store.remove(snapshot)
    expect([store.usedBytes, disk.diskBytes()]).toEqual([0, 0])
  }
})

test('one after the other: a second snapshot has its forms too, and the close waits for neither', async () => {
  const large = randomBytes(500_000).toString('hex')
  const first = await publish({ 'a.html': large, 'z.html': `${TEXT}1` })
  const second = await publish({ 'b.html': TEXT, 'z.html': `${TEXT}2` })
  await settled(second)
  expect(codingsOf(first, 'z.html')).toEqual(['br', 'gzip'])
  await publish({ 'a.html': `${large}!`, 'z.html': `${TEXT}1` })
  await store.close()
  const leftover = readdirSync(disk.directory, { recursive: true }).filter((name) =>
    String(name).endsWith('.svc-tmp'),
  )
  expect(leftover).toEqual([])
  expect(store.usedBytes).toBe(disk.diskBytes())
})

test('the next start keeps sound forms, and makes damaged ones anew', async () => {
  const files: TestFiles = {
    'a.html': `a ${TEXT}`,
    'b.html': `b ${TEXT}`,
    'c.html': `c ${TEXT}`,
    'z.html': TEXT,
  }
  const snapshot = await publish(files)
  await settled(snapshot)
  await store.close()
  const pathOf = (path: string, ending: string): string =>
    join(disk.directory, 'snapshots', snapshot.id, sha256(files[path]!) + ending)
  const kept = statSync(pathOf('z.html', '.br')).mtimeMs
  truncateSync(pathOf('a.html', '.br'), 20)
  writeFileSync(pathOf('a.html', '.gz'), gzipSync('something else'))
  writeFileSync(pathOf('b.html', '.gz'), gzipSync(Buffer.alloc(50_000_000)))
  writeFileSync(pathOf('c.html', '.br'), randomBytes(10_000))
  store = await disk.reopen()
  const again = store.kept[0]!.snapshot
  // Nothing that is not checked is served.
  expect(codingsOf(again, 'a.html')).toEqual([])
  await settled(again)
  const borrowed = store.borrow(again)
  for (const file of again.files.values())
    for (const coding of ['br', 'gzip'] as const)
      expect(decode(borrowed.pathOf(file as SnapshotFile, coding), coding)).toBe(files[file.path])
  borrowed.release()
  expect(statSync(pathOf('z.html', '.br')).mtimeMs).toBe(kept)
  expect(store.usedBytes).toBe(disk.diskBytes())
})
