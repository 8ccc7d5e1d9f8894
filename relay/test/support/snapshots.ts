// A store of snapshots in a directory of its own, uploads to it, and what is on its disk.

import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StaticCacheManifest } from '@svc/protocol'
import { createLog } from '../../src/core/log/log.ts'
import {
  type ReceiveParts,
  type SnapshotRecord,
  SnapshotStore,
  type StagedSnapshot,
} from '../../src/features/static-cache/storage/snapshot-store.ts'
import { manifestOf, type TestFiles } from './multipart-body.ts'

const BLOCK = 4096
const HOUR_MS = 3_600_000

export interface TestStore {
  directory: string
  store: SnapshotStore
  /** Bytes of the disk in whole blocks, counted by hand. */
  diskBytes(): number
  reopen(): Promise<SnapshotStore>
  close(): Promise<void>
}

export async function openTestStore(
  bytes = 64 * 1024 * 1024,
  directory = mkdtempSync(join(tmpdir(), 'svc-cache-')),
  onLogLine?: (line: string) => void,
): Promise<TestStore> {
  const log = onLogLine === undefined ? createLog('silent') : createLog('info', { write: onLogLine })
  const open = (): Promise<SnapshotStore> => SnapshotStore.open({ directory, bytes, log })
  const test: TestStore = {
    directory,
    store: await open(),
    diskBytes: () => bytesBelow(directory),
    reopen: async () => {
      await test.store.close()
      test.store = await open()
      return test.store
    },
    close: async () => {
      await test.store.close()
      rmSync(directory, { recursive: true })
    },
  }
  return test
}

/** A name that the store does not have takes none of its bytes. */
function bytesBelow(directory: string): number {
  return readdirSync(directory, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return sum + bytesBelow(path)
    return sum + Math.max(1, Math.ceil(lstatSync(path).size / BLOCK)) * BLOCK
  }, 0)
}

export function recordOf(changes: Partial<SnapshotRecord> = {}): SnapshotRecord {
  const now = Date.now()
  return {
    expiresAt: now + HOUR_MS,
    publishedAt: now,
    clientIp: '192.0.2.1',
    reportedIp: undefined,
    ...changes,
  }
}

export function ownerOf(name = 'demo'): { identityKey: string; hostname: string } {
  return { identityKey: `${name}:0x${'ab'.repeat(20)}`, hostname: `${name}.relay.example` }
}

/** The contents of the files, as an upload that is read part by part brings them. */
export async function* objectsOf(
  files: TestFiles,
  manifest: StaticCacheManifest = manifestOf(files),
): AsyncGenerator<AsyncIterable<Buffer>> {
  for (const { path } of manifest.files) yield piecesOf(Buffer.from(files[path] as string))
}

async function* piecesOf(content: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += 16_384) yield content.subarray(at, at + 16_384)
}

export function uploadTo(
  store: SnapshotStore,
  files: TestFiles,
  changes: Partial<ReceiveParts> = {},
): Promise<StagedSnapshot> {
  return store.receive({
    manifest: manifestOf(files),
    owner: ownerOf(),
    objects: objectsOf(files),
    makeRoom: async () => false,
    signal: new AbortController().signal,
    ...changes,
  })
}
