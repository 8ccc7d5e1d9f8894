// The table of sites: the state of each, what is shown and in which order; and where the pages of the administration are.
import { describe, expect, test } from 'vitest'
import { shorten } from '../src/admin/copy-text.tsx'
import { placeOf } from '../src/admin/place.ts'
import { isWaiting, stateOf } from '../src/admin/sites/site-state.ts'
import { filterSites, nextOrder, sortSites } from '../src/admin/sites/sort-sites.ts'
import { lease } from './support.ts'

describe('sites', () => {
  const unlisted = { hide: true }
  const waiting = lease('waiting', { is_approved: false, metadata: unlisted })
  const banned = lease('banned', { is_banned: true, is_denied: true, is_approved: false, metadata: unlisted })
  const limited = lease('limited', {
    bps: 5,
    ready: 0,
    first_seen_at: '2026-01-02T00:00:00.000Z',
    metadata: unlisted,
  })
  const listed = lease('listed', { metadata: { owner: 'Ada' }, is_ip_banned: true })
  const domain = { domain: 'shop.example.org', state: 'active' as const }
  const online = lease('online', { metadata: unlisted, custom_domains: [domain] })
  const all = [listed, limited, banned, waiting, online]

  test('the strongest decision is what a site is shown with', () => {
    expect(all.map(stateOf)).toEqual(['ipBanned', 'busy', 'banned', 'waiting', 'online'])
    expect(stateOf(lease('d', { is_denied: true, is_approved: false }))).toBe('denied')
    expect(all.filter(isWaiting)).toEqual([waiting])
  })

  test.each([
    ['all', '', ['banned', 'limited', 'listed', 'online', 'waiting']],
    ['online', '', ['online']],
    ['waiting', '', ['waiting']],
    ['blocked', '', ['banned', 'listed']],
    ['limited', '', ['limited']],
    ['listed', 'ada', ['listed']],
    ['all', '192.0.2.1 limited', ['limited']],
    ['all', 'Shop.example', ['online']],
    ['listed', 'limited', []],
  ] as const)('shown: %s, search "%s"', (filter, search, expected) => {
    const shown = filterSites(all, filter, search).map(({ name }) => name)
    expect(shown.toSorted()).toEqual(expected)
  })
})

describe('the order', () => {
  const day = { received_bytes: 5, sent_bytes: 10, connections: 2, visitors: 3 }
  const traffic = { open_connections: 1, received_bps: 7, sent_bps: 0, day }
  const quiet = lease('b-quiet', { client_ip: '192.0.2.9' })
  const busy = lease('a-busy', { traffic, first_seen_at: '2026-01-03T00:00:00.000Z' })
  const other = lease('c-other', { traffic: { ...traffic, open_connections: 4, received_bps: 0 } })
  const sites = [other, quiet, busy]

  test.each([
    ['name', false, ['a-busy', 'b-quiet', 'c-other']],
    ['name', true, ['c-other', 'b-quiet', 'a-busy']],
    ['visitors', true, ['c-other', 'a-busy', 'b-quiet']],
    ['rate', true, ['a-busy', 'b-quiet', 'c-other']],
    ['dayBytes', true, ['a-busy', 'c-other', 'b-quiet']],
    ['dayVisitors', false, ['b-quiet', 'a-busy', 'c-other']],
    ['since', true, ['a-busy', 'b-quiet', 'c-other']],
    ['client', true, ['b-quiet', 'a-busy', 'c-other']],
  ] as const)('by %s, descending: %s; equal ones by hostname', (column, isDescending, names) => {
    expect(sortSites(sites, { column, isDescending }).map(({ name }) => name)).toEqual(names)
  })

  test('a second press turns it around; figures begin with the largest', () => {
    const byName = nextOrder({ column: 'since', isDescending: true }, 'name')
    expect(byName).toEqual({ column: 'name', isDescending: false })
    expect(nextOrder(byName, 'name')).toEqual({ column: 'name', isDescending: true })
    expect(nextOrder(byName, 'dayBytes')).toEqual({ column: 'dayBytes', isDescending: true })
  })
})

describe('pages', () => {
  const key = `demo:0x${'ab'.repeat(20)}`
  test.each([
    ['/admin', 'overview', 'overview', ''],
    ['/admin/', 'overview', 'overview', ''],
    ['/admin/sites/', 'sites', 'sites', ''],
    [`/admin/sites/${key}`, 'site', 'sites', key],
    [`/admin/sites/${encodeURIComponent(key)}`, 'site', 'sites', key],
    ['/admin/sites/%', 'site', 'sites', '%'],
    ['/admin/access/bans', 'access', 'access', 'bans'],
    ['/admin/nothing', undefined, undefined, ''],
    ['/admin/history/a', undefined, undefined, ''],
    ['/admin/sites/a/b', undefined, undefined, ''],
  ])('%s', (path, page, section, below) => {
    expect(placeOf(path)).toEqual({ page, section, below })
  })

  test('an address is shown by its ends', () => {
    expect(shorten(`0x12${'0'.repeat(32)}abcdef`)).toBe('0x1200…cdef')
    expect(shorten('short')).toBe('short')
  })
})
