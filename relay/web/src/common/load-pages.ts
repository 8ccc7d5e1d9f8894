// Lists that the relay sends in pages, put together again.
import type { Paged } from '@svc/protocol'
import type { ApiError } from './api.ts'

/** A relay with 100,000 leases has some hundred pages. */
const PAGES_MAX = 10_000
/** A busy relay sends only so many pages a second. */
const ATTEMPTS_MAX = 5
const RETRY_DELAY_MS = 1000

/**
 * All pages of the list at `path`, the first of them first.
 * @param load asks for one page
 * @throws ApiError of a page that could not be had
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

/** What moved to a later page while the pages were loaded is on both: the later one counts. */
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
