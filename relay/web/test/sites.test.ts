// The list of sites: which are shown, and what of a stranger's words and pictures.
import { describe, expect, test } from 'vitest'
import { sanitizeText } from '../src/common/sanitize-text.ts'
import { commonTags, filterSites, tagsOf } from '../src/sites/filter-sites.ts'
import { thumbnailUrl } from '../src/sites/thumbnail-url.ts'
import { lease, saying } from './support.ts'

const names = (leases: { name: string }[]) => leases.map(({ name }) => name)

describe('the filter', () => {
  const blog = saying('blog', { description: 'On gardens', tags: ['text', 'green'] })
  const game = saying('game', { owner: 'Ada', tags: ['play', 'green'] })
  const bare = saying('bare', {})

  test.each([
    ['', ['bare', 'blog', 'game']],
    ['GARDENS', ['blog']],
    ['ada green', ['game']],
    ['blog.relay', ['blog']],
    ['play text', []],
  ])('search for "%s"', (search, expected) => {
    expect(names(filterSites([blog, game, bare], { search, tags: [] })).toSorted()).toEqual(expected)
  })

  test('a site has all tags that are chosen', () => {
    const tagged = (...tags: string[]) => names(filterSites([blog, game, bare], { search: '', tags }))
    expect([tagged('green'), tagged('green', 'play'), tagged('gree')]).toEqual([
      ['blog', 'game'],
      ['game'],
      [],
    ])
  })

  test('who came last is first', () => {
    const at = (name: string, time: string) => lease(name, { first_seen_at: `2026-01-01T${time}:00.000Z` })
    const sites = [at('b', '10:00'), at('c', '12:00'), at('a', '10:00')]
    expect(names(filterSites(sites, { search: '', tags: [] }))).toEqual(['c', 'a', 'b'])
  })

  test('twelve tags to choose from, the most common first; what is chosen stays', () => {
    const many = Array.from({ length: 20 }, (_, i) =>
      saying(`s${i}`, { tags: [`t${String(i).padStart(2, '0')}`] }),
    )
    expect(commonTags([...many, blog, game], [])).toEqual([
      'green',
      'play',
      ...many.slice(0, 10).map((one) => tagsOf(one)[0]),
    ])
    expect(commonTags([blog], ['gone'])).toEqual(['gone', 'green', 'text'])
  })
})

test('words lose what would disturb their neighbours', () => {
  expect(sanitizeText(' a\u202Eb\u0000\nc\u2066 ')).toBe('a b c')
  expect(sanitizeText('\uD800x')).toBe('\uFFFDx')
  expect(tagsOf(saying('s', { tags: [' x ', 'x', '\u200F'] }))).toEqual(['x'])
})

describe('a thumbnail', () => {
  test.each(['data:image/png;base64,AAAA', 'data:image/svg+xml,%3Csvg/%3E'])('%s is shown', (thumbnail) =>
    expect(thumbnailUrl(thumbnail)).toBe(thumbnail),
  )

  test.each([
    undefined,
    '',
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'data:image/pngx,',
    'http://pictures.example/a.png',
    'https://pictures.example/a.png',
    'blob:https://relay.example/1',
    'file:///etc/passwd',
    '/api/admin/auth/logout',
  ])('%s is not', (thumbnail) => expect(thumbnailUrl(thumbnail)).toBe(undefined))
})
