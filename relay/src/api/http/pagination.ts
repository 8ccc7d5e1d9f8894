// Lists that may be long are sent in pages: which items are on one, and where the next one begins.

import type { IncomingMessage } from 'node:http'
import { RelayError } from '../../errors.ts'
import { LIST_PAGE_BYTES } from '../../limits.ts'

/** Longer than every cursor of ours. */
const CURSOR_MAX_CHARS = 256

export interface Paginated<T> {
  items: T[]
  /** Cursor of the last item when others follow. */
  next: string | undefined
}

/** @param items with their cursors, from the first one of the page on */
export function fillPage<T>(
  items: Iterable<[cursor: string, item: T]>,
  maxBytes: number = LIST_PAGE_BYTES,
): Paginated<T> {
  const page: Paginated<T> = { items: [], next: undefined }
  let size = 0
  let last: string | undefined
  for (const [cursor, item] of items) {
    size += Buffer.byteLength(JSON.stringify(item))
    if (size > maxBytes && last !== undefined) return { ...page, next: last }
    page.items.push(item)
    last = cursor
  }
  return page
}

/**
 * What the request says in `?after=`; empty for the beginning of the list.
 * @throws RelayError `invalid_request` for what cannot be a cursor
 */
export function cursorOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?')
  const after = query < 0 ? undefined : new URLSearchParams(url.slice(query)).get('after')
  if ((after?.length ?? 0) > CURSOR_MAX_CHARS) throw noCursor()
  return after ?? ''
}

/** @throws RelayError `invalid_request` */
export function sequenceOf(cursor: string): number {
  if (!/^\d{0,15}$/.test(cursor)) throw noCursor()
  return Number(cursor)
}

function noCursor(): RelayError {
  return new RelayError('invalid_request', 'after: take it from `next` of the page before')
}
