// How the inspector's list follows what comes: order, changes, removals, failures, and another filter.

import { describe, expect, test, vi } from 'vitest'
import { EntryFeed, merged } from '../../src/inspector/entry-feed.ts'
import type { InspectorSource } from '../../src/inspector/source.ts'
import type { EntryList, ListQuery } from '../../src/inspector/types.ts'
import { list, summary } from './support.ts'

const ids = (entries: readonly { id: string }[]) => entries.map(({ id }) => id)
const none = { entries: [], removed: [], reset: false }

describe('the list', () => {
  test('begins with the newest, also of those of one moment', () => {
    const entries = [summary('a', { at: 1 }), summary('b', { at: 2 }), summary('c', { at: 2 })]
    expect(ids(merged([], { ...none, entries }))).toEqual(['c', 'b', 'a'])
  })

  test('an entry that changed stays in its place', () => {
    const known = [summary('b', { at: 2 }), summary('a', { at: 1 })]
    const now = merged(known, { ...none, entries: [summary('a', { at: 1, status: 200 })] })
    expect(ids(now)).toEqual(['b', 'a'])
    expect(now[1]).toMatchObject({ status: 200 })
  })

  test('a new one that began earlier is sorted in', () => {
    const known = [summary('c', { at: 3 }), summary('a', { at: 1 })]
    expect(ids(merged(known, { ...none, entries: [summary('b', { at: 2 })] }))).toEqual(['c', 'b', 'a'])
  })

  test('what was removed is forgotten, and after a reset everything that was known', () => {
    const known = [summary('b', { at: 2 }), summary('a', { at: 1 })]
    expect(ids(merged(known, { ...none, removed: ['b'] }))).toEqual(['a'])
    expect(ids(merged(known, { ...none, reset: true, entries: [summary('c')] }))).toEqual(['c'])
  })

  test('has at most a thousand rows', () => {
    const entries = Array.from({ length: 1_100 }, (_, at) => summary(String(at), { at }))
    const rows = merged([], { ...none, entries })
    expect([rows.length, rows[0]?.id]).toEqual([1_000, '1099'])
  })
})

describe('following', () => {
  /** A source whose answers are given one by one, and a pause that ends at once. */
  function following() {
    const asked: { query: ListQuery; signal: AbortSignal; answer: PromiseWithResolvers<EntryList> }[] = []
    const source = {
      list: (query: ListQuery, signal: AbortSignal) => {
        const answer = Promise.withResolvers<EntryList>()
        asked.push({ query, signal, answer })
        return answer.promise
      },
    } as Partial<InspectorSource> as InspectorSource
    const feed = new EntryFeed(source, async () => {})
    const question = (count: number) =>
      vi.waitFor(() => (asked[count - 1] ? asked[count - 1]! : expect.fail()))
    return { feed, question, asked }
  }

  test('asks for what changed since the last answer', async () => {
    const { feed, question } = following()
    feed.follow({ status: '5xx' })
    const first = await question(1)
    expect(first.query).toEqual({ status: '5xx' })
    first.answer.resolve(list('r.1', { entries: [summary('a', { at: 1 })] }))
    const second = await question(2)
    expect(second.query).toEqual({ status: '5xx', after: 'r.1' })
    second.answer.resolve(list('r.2', { entries: [summary('b', { at: 2 })] }))
    await question(3)
    expect(ids(feed.feed.value.entries)).toEqual(['b', 'a'])
    feed.stop()
  })

  test('says that an answer failed, keeps what it has, and goes on', async () => {
    const { feed, question } = following()
    feed.follow({})
    const first = await question(1)
    first.answer.resolve(list('r.1', { entries: [summary('a')] }))
    const second = await question(2)
    second.answer.reject(new Error('gone'))
    const third = await question(3)
    expect(feed.feed.value).toMatchObject({ error: { message: 'gone' }, entries: [{ id: 'a' }] })
    third.answer.resolve(list('r.2'))
    await question(4)
    expect(feed.feed.value.error).toBeUndefined()
    feed.stop()
  })

  test('another filter begins anew, and a late answer to the first one is nothing', async () => {
    const { feed, question } = following()
    feed.follow({})
    const first = await question(1)
    feed.follow({ method: 'POST' })
    expect(first.signal.aborted).toBe(true)
    const second = await question(2)
    expect(second.query).toEqual({ method: 'POST' })
    first.answer.resolve(list('r.1', { entries: [summary('a')] }))
    second.answer.resolve(list('r.1', { entries: [summary('b')] }))
    await question(3)
    expect(ids(feed.feed.value.entries)).toEqual(['b'])
    feed.stop()
  })
})
