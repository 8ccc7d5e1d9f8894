// A disk without room for an upload: the client hears that the cache is full, and what was there is served on.

import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { StateFileError } from '../../../src/core/storage/state-file.ts'
import {
  CacheFullError,
  type SnapshotStore,
} from '../../../src/features/static-cache/storage/snapshot-store.ts'
import { mountSmallDisk, type TestDisk } from '../../support/full-disk.ts'
import type { TestFiles } from '../../support/multipart-body.ts'
import { openTestStore, ownerOf, recordOf, type TestStore, uploadTo } from '../../support/snapshots.ts'

const KB = 1024
const LARGE: TestFiles = { 'a.bin': Buffer.alloc(300 * KB, 1), 'b.bin': Buffer.alloc(900 * KB, 2) }
const SMALL: TestFiles = { 'index.html': '<p>small</p>' }

const mounted = mountSmallDisk()
mounted?.close()

/** The disk has 1 MiB, and the budget allows far more. */
describe.skipIf(mounted === undefined)('a full disk', () => {
  let disk: TestDisk
  let cache: TestStore
  let store: SnapshotStore
  const log: string[] = []
  beforeEach(async () => {
    disk = mountSmallDisk()!
    cache = await openTestStore(64 * KB * KB, mkdtempSync(join(disk.directory, 'cache-')), (line) =>
      log.push(line),
    )
    store = cache.store
  })
  afterEach(async () => {
    await cache.close()
    disk.close()
  })

  test('an upload that does not fit leaves nothing, and the next one that fits is taken', async () => {
    for (let attempt = 0; attempt < 5; attempt++) {
      await expect(uploadTo(store, LARGE)).rejects.toThrow(CacheFullError)
      expect([store.usedBytes, cache.diskBytes()]).toEqual([0, 0])
    }
    const snapshot = await (await uploadTo(store, SMALL)).publish(recordOf())
    await expect(uploadTo(store, LARGE, { owner: ownerOf('other') })).rejects.toThrow(CacheFullError)
    const borrowed = store.borrow(snapshot)
    const file = snapshot.files.get('index.html')!
    expect(readFileSync(borrowed.pathOf(file, undefined), 'utf8')).toBe(SMALL['index.html'])
    borrowed.release()
    expect(store.usedBytes).toBe(cache.diskBytes())
  })

  test('without room for its record an upload is not published, and nothing of it is left', async () => {
    const staged = await uploadTo(store, SMALL)
    disk.fill(process.pid)
    await expect(staged.publish(recordOf())).rejects.toThrow(CacheFullError)
    expect([store.usedBytes, cache.diskBytes()]).toEqual([0, 0])
  })

  test('a record that cannot be written leaves the old one, and a removal needs no room', async () => {
    const record = recordOf()
    const snapshot = await (await uploadTo(store, SMALL)).publish(record)
    disk.fill(process.pid)
    await expect(store.rewrite(snapshot, recordOf({ expiresAt: record.expiresAt + 1 }))).rejects.toThrow(
      StateFileError,
    )
    store = await cache.reopen()
    expect(store.kept.map((one) => one.record)).toEqual([record])
    await store.remove(store.kept[0]!.snapshot)
    expect([store.usedBytes, cache.diskBytes()]).toEqual([0, 0])
  })

  test('compressed forms that find no room on the disk are left out', async () => {
    const text = randomBytes(200 * KB).toString('hex')
    const staged = await uploadTo(store, { 'index.html': text })
    // Room for the record is left, and not for a form of some hundred KB.
    writeFileSync(join(disk.directory, 'most'), Buffer.alloc(540 * KB))
    const snapshot = await staged.publish(recordOf())
    await expect.poll(() => log.some((line) => line.includes('cannot store compressed files'))).toBe(true)
    expect(snapshot.files.get('index.html')!.codings.size).toBe(0)
    expect(store.usedBytes).toBe(cache.diskBytes())
  })
})
