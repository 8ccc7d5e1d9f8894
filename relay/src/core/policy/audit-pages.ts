// Reads audit.jsonl from its end, in pages.

import { type FileHandle, open } from 'node:fs/promises'
import type { AuditEntry, AuditResponse } from '@svc/protocol'
import { z } from '../config/schema.ts'
import { RelayError } from '../errors.ts'

/** Bytes of one page. It has as many lines as fit, and at least one. */
export const AUDIT_PAGE_BYTES: number = 128 * 1024
/** Bytes of one read. */
const CHUNK_BYTES = 64 * 1024
const LINE_FEED = 10
/** The inode of a file, which a renamed file keeps, and an offset in it. */
const CURSOR = /^(\d{1,20})-(\d{1,10})$/

const line = z.object({
  time: z.iso.datetime(),
  by: z.string().nullable().optional(),
  address: z.string().nullable().optional(),
  kind: z.string(),
  made: z.record(z.string(), z.unknown()),
  undo: z.record(z.string(), z.unknown()).optional(),
})

interface Line {
  text: string
  /** Its position: lines before it in its file, and older files, follow. */
  cursor: string
}

/**
 * One page, newest first.
 * @param paths files, the newest first
 * @param after `next` of the page before; empty for the first page
 * @throws RelayError `invalid_request` for another cursor
 */
export async function auditPage(paths: readonly string[], after: string): Promise<AuditResponse> {
  const entries: AuditEntry[] = []
  let bytes = 0
  let last: string | undefined
  for await (const { text, cursor } of linesBefore(paths, after)) {
    bytes += Buffer.byteLength(text)
    if (bytes > AUDIT_PAGE_BYTES && last !== undefined) return { entries, next: last }
    last = cursor
    const entry = entryOf(text)
    if (entry !== undefined) entries.push(entry)
  }
  return { entries }
}

/** @returns undefined for a line that a crash left incomplete */
function entryOf(text: string): AuditEntry | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const read = line.safeParse(value).data
  if (read === undefined) return undefined
  const { time: at, by, address, kind, made, undo } = read
  return { at, ...(by && { by }), ...(address && { address }), kind, made, ...(undo && { undo }) }
}

/** Lines of all files, the last one first. A file may be renamed meanwhile, and the oldest one be replaced. */
async function* linesBefore(paths: readonly string[], after: string): AsyncGenerator<Line> {
  const [, inode, offset] = CURSOR.exec(after) ?? []
  if (after !== '' && inode === undefined)
    throw new RelayError('invalid_request', 'after: must be `next` of the previous page')
  let isFound = inode === undefined
  for (const path of paths) {
    const file = await openIfPresent(path)
    if (file === undefined) continue
    try {
      const { ino, size } = await file.stat({ bigint: true })
      const isHere = `${ino}` === inode
      if (!isFound && !isHere) continue
      isFound = true
      const end = isHere ? Math.min(Number(offset), Number(size)) : Number(size)
      for await (const [text, start] of linesOf(file, end)) yield { text, cursor: `${ino}-${start}` }
    } finally {
      await file.close()
    }
  }
}

/** The lines of a file that end before `end`, the last one first, each with its offset. */
async function* linesOf(file: FileHandle, end: number): AsyncGenerator<[text: string, start: number]> {
  /** What has been read of the line that `position` is in. */
  let rest = Buffer.alloc(0)
  let position = end
  while (position > 0) {
    const size = Math.min(CHUNK_BYTES, position)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, position - size)
    // The file is shorter than a moment ago: somebody edits it.
    if (bytesRead < size) return
    position -= size
    rest = Buffer.concat([buffer, rest])
    for (let feed = rest.lastIndexOf(LINE_FEED); feed >= 0; feed = rest.lastIndexOf(LINE_FEED)) {
      const text = rest.toString('utf8', feed + 1)
      if (text !== '') yield [text, position + feed + 1]
      rest = rest.subarray(0, feed)
    }
  }
  if (rest.length > 0) yield [rest.toString('utf8'), 0]
}

async function openIfPresent(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
