// Loads lists that the relay sends in pages.
import type { Paged } from '@svc/protocol'
import type { ApiError } from './api.ts'

/** A relay with 100,000 leases has about a hundred pages. */
const PAGES_MAX = 10_000
/** The attempts to load one page: a busy relay limits the rate. */
const ATTEMPTS_MAX = 5
const RETRY_DELAY_MS = 1000

/**
 * Loads all pages of the list at `path`, in order.
 * @param load loads one page
 * @throws ApiError when a page cannot be loaded
 */
export async function loadPages<T extends Paged>(
  path: string,
  load: (path: string) => Promise<T>,
): Promise<[T, ...T[]]> {
  const pages: [T, ...T[]] = [await withRetries(() => load(path))]
  for (let next = pages[0].next; next !== undefined && pages.length < PAGES_MAX; ) {
    const address = `${path}?after=${encodeURIComponent(next)}`
    const page = await withRetries(() => load(address))
    pages.push(page)
    next = page.next
  }
  return pages
}

/** Removes duplicates: an item that moved to a later page during loading is on both, and the later one wins. */
export function uniqueBy<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()]
}

async function withRetries<T>(load: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await load()
    } catch (error) {
      if ((error as ApiError).code !== 'rate_limited' || attempt === ATTEMPTS_MAX) throw error
      await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY_MS))
    }
  }
}
