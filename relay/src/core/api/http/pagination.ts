// Splits long lists into pages, each with the cursor of the next one.

import type { IncomingMessage } from 'node:http'
import { RelayError } from '../../errors.ts'

/** Bytes of one page of a list such as `/api/state`. It has as many items as fit, and at least one. */
export const LIST_PAGE_BYTES: number = 256 * 1024

/** Longer than every cursor of this relay. */
const CURSOR_MAX_CHARS = 256

export interface Paginated<T> {
  items: T[]
  /** Cursor of the last item; undefined on the last page. */
  next: string | undefined
}

/** @param items items with their cursors, beginning with the first of the page */
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
 * The cursor in `?after=`; empty for the first page.
 * @throws RelayError `invalid_request` for an invalid cursor
 */
export function cursorOf({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  const query = url.indexOf('?')
  const after = query < 0 ? undefined : new URLSearchParams(url.slice(query)).get('after')
  if ((after?.length ?? 0) > CURSOR_MAX_CHARS) throw invalidCursor()
  return after ?? ''
}

/** @throws RelayError `invalid_request` */
export function sequenceOf(cursor: string): number {
  if (!/^\d{0,15}$/.test(cursor)) throw invalidCursor()
  return Number(cursor)
}

function invalidCursor(): RelayError {
  return new RelayError('invalid_request', 'after: must be `next` of the previous page')
}
