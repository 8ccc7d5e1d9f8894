// Snapshots on disk: published whole or not at all, within the budget, and gone when they are removed.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RelayError } from '../../../src/core/errors.ts'
import type { Snapshot } from '../../../src/features/static-cache/snapshot.ts'
import {
  CacheFullError,
  type SnapshotStore,
} from '../../../src/features/static-cache/storage/snapshot-store.ts'
import { manifestOf, sha256, type TestFiles } from '../../support/multipart-body.ts'
import {
  objectsOf,
  openTestStore,
  ownerOf,
  recordOf,
  type TestStore,
  uploadTo,
} from '../../support/snapshots.ts'

const BLOCK = 4096
const FILES: TestFiles = { 'a.bin': Buffer.alloc(10_000, 7), 'b/empty': '', 'c.bin': 'ccc', 'd.bin': 'ccc' }

let disk: TestStore
let store: SnapshotStore

beforeEach(async () => {
  disk = await openTestStore()
  store = disk.store
})

afterEach(() => disk.close())

async function publish(files: TestFiles = FILES, name = 'demo', record = recordOf()): Promise<Snapshot> {
  return await (await uploadTo(store, files, { owner: ownerOf(name) })).publish(record)
}

function directoryOf({ id }: Snapshot): string {
  return join(disk.directory, 'snapshots', id)
}

function expectContents(snapshot: Snapshot, files: TestFiles): void {
  const borrowed = store.borrow(snapshot)
  for (const file of snapshot.files.values())
    expect(readFileSync(borrowed.pathOf(file, undefined))).toEqual(Buffer.from(files[file.path] as string))
  borrowed.release()
}

function expectNothing(): void {
  expect(store.usedBytes).toBe(0)
  for (const folder of ['staging', 'snapshots']) expect(readdirSync(join(disk.directory, folder))).toEqual([])
}

describe('publication', () => {
  test('a snapshot has the files of its manifest, in files that only the relay may read', async () => {
    const staged = await uploadTo(store, FILES)
    expect(readdirSync(join(disk.directory, 'snapshots'))).toEqual([])
    const snapshot = await staged.publish(recordOf())
    expect(snapshot).toMatchObject({ ...ownerOf(), index: 'a.bin' })
    expect([...snapshot.files.keys()]).toEqual(Object.keys(FILES))
    expectContents(snapshot, FILES)
    expect(readdirSync(join(disk.directory, 'staging'))).toEqual([])
    const directory = directoryOf(snapshot)
    const names = readdirSync(directory)
    expect(names.sort()).toEqual(
      ['manifest.json', 'record.json', sha256(FILES['a.bin']!), sha256(''), sha256('ccc')].sort(),
    )
    for (const name of names) expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600)
    for (const path of [directory, join(directory, '..'), join(disk.directory, 'staging')])
      expect(statSync(path).mode & 0o777).toBe(0o700)
    expect(store.usedBytes).toBe(disk.diskBytes())
  })

  test('what is discarded leaves nothing; neither can be done twice', async () => {
    const staged = await uploadTo(store, FILES)
    expect(store.usedBytes).toBe(disk.diskBytes() + BLOCK)
    await staged.discard()
    await staged.discard()
    expectNothing()
    await expect(staged.publish(recordOf())).rejects.toThrow('already')
    const other = await uploadTo(store, FILES)
    await other.publish(recordOf())
    await expect(other.publish(recordOf())).rejects.toThrow('already')
    await other.discard()
    expect(store.usedBytes).toBe(disk.diskBytes())
  })

  test('a later end survives a restart; after the removal there is nothing to rewrite', async () => {
    const snapshot = await publish()
    const record = recordOf({ expiresAt: Date.now() + 5 * 3_600_000, reportedIp: '198.51.100.7' })
    await Promise.all([store.rewrite(snapshot, recordOf()), store.rewrite(snapshot, record)])
    store = await disk.reopen()
    expect(store.kept.map((one) => one.record)).toEqual([record])
    await store.remove(store.kept[0]!.snapshot)
    await store.rewrite(store.kept[0]!.snapshot, record)
    expectNothing()
  })
})

describe('uploads that lie', () => {
  const cases: [string, Partial<Record<string, string | Buffer>>, string][] = [
    ['a byte more', { 'a.bin': Buffer.alloc(10_001, 7) }, 'has more than 10000 bytes'],
    ['far more', { 'a.bin': Buffer.alloc(5_000_000, 7) }, 'has more than 10000 bytes'],
    ['a byte less', { 'a.bin': Buffer.alloc(9_999, 7) }, 'has 9999 bytes, and the manifest says 10000'],
    ['nothing', { 'a.bin': '' }, 'has 0 bytes'],
    ['another content', { 'a.bin': Buffer.alloc(10_000, 8) }, 'another SHA-256'],
    ['a content where there is none', { 'b/empty': 'x' }, 'has more than 0 bytes'],
    ['another content of a file that is there already', { 'd.bin': 'ccd' }, 'another SHA-256'],
  ]
  test.each(cases)('%s', async (_, changes, message) => {
    const manifest = manifestOf(FILES)
    const objects = objectsOf({ ...FILES, ...(changes as TestFiles) }, manifest)
    const upload = uploadTo(store, FILES, { objects })
    await expect(upload).rejects.toThrow(message)
    await expect(upload).rejects.toMatchObject({ code: 'invalid_request' })
    expectNothing()
  })

  test('an object too few, and one too many', async () => {
    const few = objectsOf({ 'a.bin': FILES['a.bin']! })
    await expect(uploadTo(store, FILES, { objects: few })).rejects.toThrow('fewer objects than files')
    const many = objectsOf({ ...FILES, 'e.bin': 'e' })
    await expect(uploadTo(store, FILES, { objects: many })).rejects.toThrow('more objects than files')
    expectNothing()
  })
})

describe('uploads that end early', () => {
  /** The first object has some bytes, and then `end` decides. */
  async function* partly(end: () => Promise<void>): AsyncGenerator<AsyncIterable<Buffer>> {
    yield (async function* () {
      yield Buffer.alloc(5_000, 7)
      await end()
    })()
  }

  test('the body is cut or takes too long', async () => {
    const failure = new RelayError('invalid_request', 'the body took too long')
    const objects = partly(() => Promise.reject(failure))
    await expect(uploadTo(store, FILES, { objects })).rejects.toBe(failure)
    expectNothing()
  })

  test('the signal ends an upload whose client is silent', async () => {
    const ended = new AbortController()
    const begun = Promise.withResolvers<void>()
    const objects = partly(() => {
      begun.resolve()
      return new Promise(() => {})
    })
    const upload = uploadTo(store, FILES, { objects, signal: ended.signal })
    await begun.promise
    ended.abort(new Error('another lease'))
    await expect(upload).rejects.toThrow('another lease')
    expectNothing()
    await expect(uploadTo(store, FILES, { signal: ended.signal })).rejects.toThrow('another lease')
    expectNothing()
  })

  test('the close of the store ends uploads, and discards what is staged', async () => {
    const begun = Promise.withResolvers<void>()
    const objects = partly(() => {
      begun.resolve()
      return new Promise(() => {})
    })
    const upload = uploadTo(store, FILES, { objects })
    const rejected = expect(upload).rejects.toThrow('is closed')
    await uploadTo(store, FILES)
    await begun.promise
    await store.close()
    await rejected
    expectNothing()
    await expect(uploadTo(store, FILES)).rejects.toThrow('is closed')
  })
})

describe('readers', () => {
  test('a removed snapshot is gone for new ones, and stays for those that have it', async () => {
    const snapshot = await publish()
    const used = store.usedBytes
    const [first, second] = [store.borrow(snapshot), store.borrow(snapshot)]
    const file = snapshot.files.get('a.bin')!
    await store.remove(snapshot)
    await store.remove(snapshot)
    expect(() => store.borrow(snapshot)).toThrow('is removed')
    first.release()
    first.release()
    expect(readFileSync(second.pathOf(file, undefined))).toEqual(FILES['a.bin'])
    // Its record is gone already.
    expect(store.usedBytes).toBe(used - BLOCK)
    second.release()
    await expect.poll(() => existsSync(directoryOf(snapshot))).toBe(false)
    await expect.poll(() => store.usedBytes).toBe(0)
  })

  test('the removal says when the next start finds the snapshot no more', async () => {
    const snapshot = await publish()
    const reader = store.borrow(snapshot)
    let isRecorded: boolean | undefined
    await store.remove(snapshot, () => {
      isRecorded = existsSync(join(directoryOf(snapshot), 'record.json'))
    })
    expect(isRecorded).toBe(false)
    reader.release()
  })

  test('a removed snapshot does not come back when the relay dies before its reader is done', async () => {
    const snapshot = await publish()
    store.borrow(snapshot)
    await store.remove(snapshot)
    expect(existsSync(directoryOf(snapshot))).toBe(true)
    const other = await openTestStore(BLOCK * 100, disk.directory)
    expect(other.store.kept).toEqual([])
    expect(other.store.usedBytes).toBe(0)
    await other.store.close()
  })
})

describe('the budget', () => {
  test('what takes more than all of it is refused, and removes nothing', async () => {
    await publish()
    const files = { a: Buffer.alloc(64 * 1024 * 1024) }
    const makeRoom = async (): Promise<boolean> => expect.fail('nothing helps')
    await expect(uploadTo(store, files, { makeRoom })).rejects.toThrow(CacheFullError)
    expect(store.usedBytes).toBe(disk.diskBytes())
  })

  test('small files count as the blocks that they take', async () => {
    await disk.close()
    disk = await openTestStore(BLOCK * 50)
    store = disk.store
    const many: TestFiles = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`${n}`, `${n}`]))
    await expect(uploadTo(store, many)).rejects.toThrow(CacheFullError)
    expectNothing()
  })

  test('the oldest makes room, until there is enough or nothing more', async () => {
    await disk.close()
    disk = await openTestStore(BLOCK * 30)
    store = disk.store
    const kept = [
      await publish({ a: Buffer.alloc(BLOCK * 10, 1) }, 'one'),
      await publish({ a: Buffer.alloc(BLOCK * 10, 2) }, 'two'),
    ]
    const asked: number[] = []
    const makeRoom = async (bytes: number): Promise<boolean> => {
      asked.push(bytes)
      const next = kept.shift()
      if (next !== undefined) await store.remove(next)
      return next !== undefined
    }
    const files = { a: Buffer.alloc(BLOCK * 20, 3) }
    const snapshot = await (await uploadTo(store, files, { makeRoom })).publish(recordOf())
    expect(asked).toEqual([BLOCK * 16, BLOCK * 4])
    expectContents(snapshot, files)
    const reader = store.borrow(snapshot)
    kept.push(snapshot)
    await expect(uploadTo(store, files, { makeRoom })).rejects.toThrow(CacheFullError)
    expect(store.usedBytes).toBe(disk.diskBytes())
    reader.release()
    await expect.poll(() => store.usedBytes).toBe(0)
  })
})

describe('what the next start finds', () => {
  test('whole snapshots, the last of each identity though the clock was set back, with their files and records', async () => {
    const record = recordOf()
    const times = [5, 4, 3, 2, 1]
    let newer: Snapshot | undefined
    for (const publishedAt of times) {
      newer = await publish({ a: `${publishedAt}` }, 'one', { ...record, publishedAt })
      // A renewal writes the record anew, and a restart goes on counting.
      await store.rewrite(newer, { ...record, publishedAt })
      if (publishedAt === 3) store = await disk.reopen()
    }
    const other = await publish(FILES, 'two', record)
    store = await disk.reopen()
    const ids = store.kept.map(({ snapshot }) => snapshot.id)
    expect(ids.sort()).toEqual([newer!.id, other.id].sort())
    const { snapshot } = store.kept.find(({ snapshot }) => snapshot.id === other.id)!
    expect(snapshot).toEqual(other)
    expectContents(snapshot, FILES)
    expect(store.usedBytes).toBe(disk.diskBytes())
    for (const { snapshot } of store.kept) await store.remove(snapshot)
    expectNothing()
  })

  const damages: [string, (directory: string) => void][] = [
    ['a changed byte', (directory) => writeFileSync(join(directory, sha256('ccc')), 'ccd')],
    ['a file that is cut', (directory) => truncateSync(join(directory, sha256(FILES['a.bin']!)), 9_000)],
    ['a file that is longer', (directory) => truncateSync(join(directory, sha256(FILES['a.bin']!)), 90_000)],
    ['a missing file', (directory) => rmSync(join(directory, sha256('')))],
    ['no manifest', (directory) => rmSync(join(directory, 'manifest.json'))],
    ['half a manifest', (directory) => truncateSync(join(directory, 'manifest.json'), 100)],
    ['a manifest of something else', (directory) => writeFileSync(join(directory, 'manifest.json'), 'null')],
    ['a huge manifest', (directory) => truncateSync(join(directory, 'manifest.json'), 3_000_000)],
    ['no record', (directory) => rmSync(join(directory, 'record.json'))],
    ['an empty record', (directory) => writeFileSync(join(directory, 'record.json'), '')],
    [
      'a record without an end',
      (directory) => writeFileSync(join(directory, 'record.json'), '{"publishedAt":1}'),
    ],
    [
      'a record whose end has passed',
      (directory) =>
        writeFileSync(
          join(directory, 'record.json'),
          JSON.stringify({ ...recordOf({ expiresAt: Date.now() - 1 }), sequence: 1 }),
        ),
    ],
    [
      'a link to a file with the right content',
      (directory) => {
        const file = join(directory, sha256('ccc'))
        renameSync(file, join(disk.directory, 'ccc'))
        symlinkSync(join(disk.directory, 'ccc'), file)
      },
    ],
    [
      'a directory instead of a file',
      (directory) => {
        rmSync(join(directory, sha256('ccc')))
        mkdirSync(join(directory, sha256('ccc')))
      },
    ],
  ]
  test.each(damages)('not one with %s', async (_, damage) => {
    const snapshot = await publish()
    const sound = await publish({ a: 'sound' }, 'other')
    await store.close()
    damage(directoryOf(snapshot))
    store = await disk.reopen()
    expect(store.kept.map(({ snapshot }) => snapshot.id)).toEqual([sound.id])
    expect(existsSync(directoryOf(snapshot))).toBe(false)
  })

  test('nothing else stays in its folders, and everything beside them does, also behind links', async () => {
    const snapshot = await publish()
    await store.close()
    const beside = join(disk.directory, 'beside')
    mkdirSync(beside)
    writeFileSync(join(beside, 'x'), 'x')
    for (const folder of ['staging', 'snapshots']) {
      writeFileSync(join(disk.directory, folder, 'file'), '')
      mkdirSync(join(disk.directory, folder, 'folder', 'inner'), { recursive: true })
      symlinkSync(beside, join(disk.directory, folder, 'link'))
    }
    writeFileSync(join(directoryOf(snapshot), 'more'), '')
    writeFileSync(join(directoryOf(snapshot), `${sha256('ccc')}.svc-tmp`), '')
    symlinkSync(beside, join(directoryOf(snapshot), 'link'))
    const names = readdirSync(directoryOf(snapshot)).length
    store = await disk.reopen()
    expect(store.kept).toHaveLength(1)
    expect(readdirSync(join(disk.directory, 'snapshots'))).toEqual([snapshot.id])
    expect(readdirSync(directoryOf(snapshot))).toHaveLength(names - 3)
    expect(readdirSync(join(disk.directory, 'staging'))).toEqual([])
    expect(readFileSync(join(beside, 'x'), 'utf8')).toBe('x')
  })

  test('a folder that is a link elsewhere is an error, and nothing there is touched', async () => {
    await store.close()
    const elsewhere = join(disk.directory, 'elsewhere')
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, 'x'), 'x')
    rmSync(join(disk.directory, 'snapshots'), { recursive: true })
    symlinkSync(elsewhere, join(disk.directory, 'snapshots'))
    await expect(disk.reopen()).rejects.toThrow('snapshots is not a directory')
    expect(existsSync(join(elsewhere, 'x'))).toBe(true)
  })

  test('neither is the whole folder of the cache followed elsewhere', async () => {
    await store.close()
    const elsewhere = `${disk.directory}-elsewhere`
    renameSync(disk.directory, elsewhere)
    mkdirSync(join(elsewhere, 'staging', 'x'))
    symlinkSync(elsewhere, disk.directory)
    await expect(disk.reopen()).rejects.toThrow('is not a directory')
    expect(existsSync(join(elsewhere, 'staging', 'x'))).toBe(true)
    rmSync(disk.directory)
    renameSync(elsewhere, disk.directory)
  })

  test('folders that others could read are closed to them', async () => {
    chmodSync(join(disk.directory, 'snapshots'), 0o755)
    await disk.reopen()
    expect(statSync(join(disk.directory, 'snapshots')).mode & 0o777).toBe(0o700)
  })

  test('with a smaller budget those that end last', async () => {
    const record = recordOf()
    await publish({ a: Buffer.alloc(BLOCK * 10, 1) }, 'one', { ...record, expiresAt: record.expiresAt + 1 })
    const last = await publish({ a: Buffer.alloc(BLOCK * 10, 2) }, 'two', {
      ...record,
      expiresAt: record.expiresAt + 2,
    })
    await store.close()
    const smaller = await openTestStore(BLOCK * 20, disk.directory)
    expect(smaller.store.kept.map(({ snapshot }) => snapshot.id)).toEqual([last.id])
    expect(smaller.store.usedBytes).toBe(disk.diskBytes())
    await smaller.store.close()
  })
})
