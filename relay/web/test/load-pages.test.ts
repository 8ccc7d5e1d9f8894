// Lists in pages: all of them are loaded, in order, and a relay that is busy is asked again.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ApiError } from '../src/common/api.ts'
import { loadPages, uniqueBy } from '../src/common/load-pages.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const PAGES: Record<string, { items: number[]; next?: string }> = {
  '/list': { items: [1, 2], next: 'a b' },
  '/list?after=a%20b': { items: [3], next: 'c' },
  '/list?after=c': { items: [] },
}

test('every page is asked for once, the first without a cursor', async () => {
  const load = vi.fn(async (path: string) => PAGES[path]!)
  const pages = await loadPages('/list', load)
  expect(pages.flatMap(({ items }) => items)).toEqual([1, 2, 3])
  expect(load.mock.calls.flat()).toEqual(Object.keys(PAGES))
})

test('a page that is refused for now is asked for again, up to five times; other failures are one', async () => {
  const busy = new ApiError('rate_limited', 'busy', 429)
  const load = vi.fn(async (path: string) => {
    if (load.mock.calls.length < 4) throw busy
    return PAGES[path]!
  })
  const pages = loadPages('/list', load)
  await vi.advanceTimersByTimeAsync(3_000)
  expect(await pages).toHaveLength(3)

  const never = loadPages('/list', () => Promise.reject(busy))
  const refused = expect(never).rejects.toBe(busy)
  await vi.advanceTimersByTimeAsync(4_000)
  await refused
  await expect(loadPages('/list', () => Promise.reject(new ApiError('internal', '')))).rejects.toMatchObject({
    code: 'internal',
  })
})

test('what is on two pages counts once, as it was last', () => {
  const items = [
    { key: 'a', at: 1 },
    { key: 'b', at: 1 },
    { key: 'a', at: 2 },
  ]
  expect(uniqueBy(items, ({ key }) => key)).toEqual([items[2], items[1]])
})
