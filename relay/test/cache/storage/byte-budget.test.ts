// The bytes that the store counts are those on its disk, whatever happens to uploads, snapshots and their readers.

import { expect, test } from 'vitest'
import fc from '../../../../tools/fast-check.ts'
import { atDepth } from '../../../../tools/test-depth.ts'
import { RelayError } from '../../../src/core/errors.ts'
import type { BorrowedSnapshot, Snapshot } from '../../../src/features/static-cache/snapshot.ts'
import {
  CacheFullError,
  type StagedSnapshot,
} from '../../../src/features/static-cache/storage/snapshot-store.ts'
import { manifestOf, type TestFiles } from '../../support/multipart-body.ts'
import {
  objectsOf,
  openTestStore,
  ownerOf,
  recordOf,
  type TestStore,
  uploadTo,
} from '../../support/snapshots.ts'

const BLOCK = 4096
const LIMIT: number = BLOCK * 40

type Step =
  | { kind: 'upload'; name: string; sizes: number[]; fill: number; fault: 'none' | 'hash' | 'cut' | 'abort' }
  | { kind: 'publish' | 'discard' | 'borrow' | 'release' | 'remove' | 'rewrite'; which: number }
  | { kind: 'reopen' }

/** The bytes that a test holds of a store. */
class World {
  readonly disk: TestStore
  readonly staged: StagedSnapshot[] = []
  snapshots: Snapshot[] = []
  readonly borrowed: BorrowedSnapshot[] = []

  constructor(disk: TestStore) {
    this.disk = disk
  }

  async run(step: Step): Promise<void> {
    if (step.kind === 'upload') await this.#upload(step)
    else if (step.kind === 'reopen') await this.reopen()
    else await this.#change(step.kind, step.which)
    await this.check()
  }

  /** The background may be about to write a compressed form, whose room is reserved already. */
  async check(): Promise<void> {
    const reserved = (): number => this.disk.store.usedBytes - BLOCK * this.staged.length
    expect(this.disk.store.usedBytes).toBeLessThanOrEqual(LIMIT)
    await expect.poll(() => reserved() - this.disk.diskBytes(), { interval: 1 }).toBe(0)
  }

  async reopen(): Promise<void> {
    const store = await this.disk.reopen()
    this.staged.length = 0
    this.borrowed.length = 0
    this.snapshots = store.kept.map(({ snapshot }) => snapshot)
  }

  async #upload({ name, sizes, fill, fault }: Extract<Step, { kind: 'upload' }>): Promise<void> {
    const files: TestFiles = Object.fromEntries(
      sizes.map((size, n) => [`${n}.html`, Buffer.alloc(size, fill + n)]),
    )
    const ended = new AbortController()
    const objects =
      fault === 'none' ? objectsOf(files) : faulty(files, fault, () => ended.abort(new Error('ended')))
    const makeRoom = async (): Promise<boolean> => {
      const oldest = this.snapshots.shift()
      if (oldest !== undefined) await this.disk.store.remove(oldest)
      return oldest !== undefined
    }
    try {
      const owner = ownerOf(name)
      this.staged.push(
        await uploadTo(this.disk.store, files, { owner, objects, makeRoom, signal: ended.signal }),
      )
    } catch (error) {
      const isExpected =
        error instanceof CacheFullError || error instanceof RelayError || ended.signal.aborted
      if (!isExpected) throw error
    }
  }

  async #change(kind: string, which: number): Promise<void> {
    const { store } = this.disk
    if (kind === 'publish') {
      const snapshot = await take(this.staged, which)?.publish(recordOf())
      if (snapshot !== undefined) this.snapshots.push(snapshot)
    } else if (kind === 'discard') await take(this.staged, which)?.discard()
    else if (kind === 'release') take(this.borrowed, which)?.release()
    else {
      const snapshot = this.snapshots[which % this.snapshots.length]
      if (snapshot === undefined) return
      if (kind === 'borrow') this.borrowed.push(store.borrow(snapshot))
      else if (kind === 'rewrite') await store.rewrite(snapshot, recordOf())
      else await store.remove(take(this.snapshots, which)!)
    }
  }
}

function take<T>(list: T[], which: number): T | undefined {
  return list.length === 0 ? undefined : list.splice(which % list.length, 1)[0]
}

async function* faulty(
  files: TestFiles,
  fault: string,
  abort: () => void,
): AsyncGenerator<AsyncIterable<Buffer>> {
  const paths = manifestOf(files).files.map(({ path }) => path)
  for (const [number, path] of paths.entries()) {
    const isLast = number === paths.length - 1
    yield (async function* () {
      const content = files[path] as Buffer
      if (isLast && fault === 'abort') abort()
      if (isLast && fault === 'cut') throw new RelayError('invalid_request', 'the body ended early')
      yield isLast ? Buffer.alloc(content.length, 'another') : content
    })()
  }
}

const which = fc.nat(20)
const upload = fc.record({
  kind: fc.constant('upload' as const),
  name: fc.constantFrom('one', 'two', 'three'),
  sizes: fc.array(fc.constantFrom(0, 1, 100, 1500, BLOCK, BLOCK + 1, 5 * BLOCK, 18 * BLOCK), {
    minLength: 1,
    maxLength: 4,
  }),
  fill: fc.nat(3),
  fault: fc.constantFrom('none', 'none', 'none', 'hash', 'cut', 'abort'),
}) as fc.Arbitrary<Step>
const change = fc.record({
  kind: fc.constantFrom('publish', 'publish', 'discard', 'borrow', 'release', 'remove', 'rewrite'),
  which,
}) as fc.Arbitrary<Step>
const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: upload },
    { weight: 10, arbitrary: change },
    { weight: 1, arbitrary: fc.constant<Step>({ kind: 'reopen' }) },
  ),
  { minLength: 5, maxLength: 30 },
)

test('after any sequence of uploads, faults, removals and readers the used bytes are those on disk, and 0 in the end', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const world = new World(await openTestStore(LIMIT))
      try {
        for (const step of sequence) await world.run(step)
        for (const one of world.borrowed) one.release()
        for (const one of world.staged.splice(0)) await one.discard()
        for (const one of world.snapshots) await world.disk.store.remove(one)
        await expect.poll(() => world.disk.store.usedBytes, { interval: 1 }).toBe(0)
        expect(world.disk.diskBytes()).toBe(0)
      } finally {
        await world.disk.close()
      }
    }),
    { numRuns: atDepth(300, 25), endOnFailure: true },
  )
}, 180_000)
