// The bytes of a snapshot: of its files as they were uploaded, and of the disk.

import type { Snapshot } from './snapshot.ts'
import { diskBytes } from './storage/snapshot-files.ts'

/** Bytes of all files as the site uploaded them. */
export function bytesOf({ files }: Snapshot): number {
  let bytes = 0
  for (const { size } of files.values()) bytes += size
  return bytes
}

/** Bytes of the disk that its removal frees, at least: equal files are stored once. */
export function diskBytesOf({ files }: Snapshot): number {
  const distinct = new Map([...files.values()].map((file) => [file.sha256, file]))
  let bytes = 0
  for (const { size, codings } of distinct.values()) {
    bytes += diskBytes(size)
    for (const coded of codings.values()) bytes += diskBytes(coded)
  }
  return bytes
}
